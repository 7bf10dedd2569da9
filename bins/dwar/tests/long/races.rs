//! Invariants under concurrency; each race with one process and with two.

use crate::common::{Answer, Database, Project, Service, World, at_once, tally, wrong};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::collections::BTreeMap;

on_both_databases! {
    the_right_code_opens_once;
    the_right_code_opens_once_for_two_processes;
    wrong_codes_are_counted_one_by_one;
    wrong_codes_are_counted_one_by_one_by_two_processes;
    right_and_wrong_codes_race;
    a_refresh_token_is_exchanged_once;
    a_refresh_token_is_exchanged_once_by_two_processes;
    a_phone_gets_no_more_codes_than_its_limit;
    a_phone_gets_no_more_codes_than_its_limit_from_two_processes;
    a_balance_pays_for_what_it_covers;
    a_balance_pays_for_what_it_covers_in_two_processes;
    a_day_spends_no_more_than_its_limit_in_two_processes;
    an_idempotency_key_sends_once;
    an_idempotency_key_sends_once_over_two_processes;
    nothing_of_a_deleted_identity_survives;
    nothing_of_a_session_survives_its_logout;
    a_session_ends_once;
}

const CROWD: usize = 200;
const ROUNDS: usize = 3;

fn world(database: Database) -> World {
    World::new(database)
        .with("DWAR__SECRETS__MASTER_KEY", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=")
        .with("DWAR__LIMITS__LIVE__GENERAL_PER_MINUTE", "100000")
        .with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", "100000")
        // The leeway is meant for two browser tabs that refresh at once. A race on a busy machine takes
        // longer.
        .with("DWAR__SESSION__LEEWAY_SECONDS", "60")
        // Both channels cost the same, so that a hold is spent completely.
        .with("DWAR__PRICES__SMS_PAISE", "20")
        // A crowd that waits for one row on a busy machine is not an outage.
        .with("DWAR__DATABASE__TIMEOUT_MS", "10000")
}

struct Herd(Vec<Service>);

impl Herd {
    fn one(database: Database) -> Self {
        Self(vec![Service::start_in(world(database))])
    }

    fn two(database: Database) -> Self {
        let first = Service::start_in(world(database));
        let second = first.twin();
        Self(vec![first, second])
    }

    fn first(&self) -> &Service {
        &self.0[0]
    }

    fn world(&self) -> &World {
        &self.first().world
    }

    /// Distributes `count` calls evenly and makes them all at once.
    async fn race(
        &self,
        count: usize,
        call: impl Fn(&Service, usize) -> RequestBuilder,
    ) -> Vec<Answer> {
        let services = self.0.iter().cycle();
        at_once(services.take(count).enumerate().map(|(n, service)| call(service, n))).await
    }
}

/// The bodies of the successful calls of a race.
fn winners(answers: &[Answer]) -> Vec<&Value> {
    answers.iter().filter(|answer| answer.status == 200).map(|answer| &answer.body).collect()
}

fn expect(answers: &[Answer], expected: &[(&str, usize)]) {
    let expected: BTreeMap<&str, usize> = expected.iter().copied().collect();
    assert_eq!(tally(answers), expected);
}

fn keys(project: &Project) -> [(&str, usize, usize); 2] {
    // The key, how many wrong guesses it allows per code, and how many sends per phone.
    [(&project.live, 5, 3), (&project.test, 20, 20)]
}

fn verification(service: &Service, key: &str, phone: &str, code: &str) -> RequestBuilder {
    service.call(key, "/v1/otp/verify", &json!({ "phone": phone, "code": code }))
}

async fn dead(service: &Service, key: &str, pair: &Value) {
    let access = service.validate(key, &pair["access_token"]).await;
    access.refused(401, "INVALID_ACCESS_TOKEN");
    let refresh = service.refresh(key, &pair["refresh_token"]).await;
    refresh.refused(401, "SESSION_EXPIRED");
}

async fn alive(service: &Service, key: &str, pair: &Value) -> Value {
    service.validate(key, &pair["access_token"]).await.ok();
    service.refresh(key, &pair["refresh_token"]).await.ok()
}

async fn the_right_code_opens_once(database: Database) {
    open_once(Herd::one(database)).await;
}

async fn the_right_code_opens_once_for_two_processes(database: Database) {
    open_once(Herd::two(database)).await;
}

async fn open_once(herd: Herd) {
    let project = herd.world().project("100");
    for round in 0..ROUNDS {
        let (key, ..) = keys(&project)[round % 2];
        let phone = herd.world().phone();
        herd.first().send(key, &phone).await.ok();
        let code = herd.first().code(key, &phone).await;
        let answers =
            herd.race(CROWD, |service, _| verification(service, key, &phone, &code)).await;
        expect(&answers, &[("200", 1), ("OTP_NOT_FOUND", CROWD - 1)]);
        alive(herd.first(), key, winners(&answers)[0]).await;
    }
}

async fn wrong_codes_are_counted_one_by_one(database: Database) {
    count_one_by_one(Herd::one(database)).await;
}

async fn wrong_codes_are_counted_one_by_one_by_two_processes(database: Database) {
    count_one_by_one(Herd::two(database)).await;
}

async fn count_one_by_one(herd: Herd) {
    let project = herd.world().project("100");
    for round in 0..ROUNDS {
        let (key, guesses, _) = keys(&project)[round % 2];
        let phone = herd.world().phone();
        herd.first().send(key, &phone).await.ok();
        let code = herd.first().code(key, &phone).await;
        let guess = |service: &Service, n: usize| {
            let guess = wrong(&code, u32::try_from(n).unwrap());
            verification(service, key, &phone, &guess)
        };
        let answers = herd.race(CROWD, guess).await;
        expect(&answers, &[("INVALID_OTP", guesses), ("VERIFY_RATE_LIMITED", CROWD - guesses)]);
        for service in &herd.0 {
            service.verify(key, &phone, &code).await.refused(429, "VERIFY_RATE_LIMITED");
        }
    }
}

/// The codes are judged in any order. There is at most one login, there are no more wrong guesses than
/// allowed, and there is no lock if there is a login.
async fn right_and_wrong_codes_race(database: Database) {
    let herd = Herd::one(database);
    let project = herd.world().project("100");
    for round in 0..2 * ROUNDS {
        let (key, guesses, _) = keys(&project)[round % 2];
        let phone = herd.world().phone();
        herd.first().send(key, &phone).await.ok();
        let code = herd.first().code(key, &phone).await;
        let guess = |service: &Service, n: usize| {
            let guess = if n.is_multiple_of(4) { code.clone() } else { wrong(&code, 0) };
            verification(service, key, &phone, &guess)
        };
        let answers = herd.race(CROWD, guess).await;
        let count = |outcome| tally(&answers).get(outcome).copied().unwrap_or_default();
        let (opened, wrong_codes) = (count("200"), count("INVALID_OTP"));
        let (locked, late) = (count("VERIFY_RATE_LIMITED"), count("OTP_NOT_FOUND"));
        assert_eq!(opened + wrong_codes + locked + late, CROWD, "{:?}", tally(&answers));
        if opened == 1 {
            assert!(wrong_codes < guesses && locked == 0, "{:?}", tally(&answers));
        } else {
            assert_eq!((opened, wrong_codes, late), (0, guesses, 0));
        }
    }
}

async fn a_refresh_token_is_exchanged_once(database: Database) {
    exchange_once(Herd::one(database)).await;
}

async fn a_refresh_token_is_exchanged_once_by_two_processes(database: Database) {
    exchange_once(Herd::two(database)).await;
}

async fn exchange_once(herd: Herd) {
    let key = herd.world().project("0").test;
    let mut pair = herd.first().log_in(&key, &herd.world().phone()).await;
    // If a request can see an exchange that is half done, it is one of the first few of a crowd. So there are
    // many small crowds as well.
    for crowd in [&[CROWD; ROUNDS][..], &[6; 30]].concat() {
        let body = json!({ "refresh_token": pair["refresh_token"] });
        let refresh = |service: &Service, _| service.call(&key, "/v1/session/refresh", &body);
        let answers = herd.race(crowd, refresh).await;
        expect(&answers, &[("200", 1), ("SESSION_EXPIRED", crowd - 1)]);
        let old = herd.first().validate(&key, &pair["access_token"]).await;
        old.refused(401, "INVALID_ACCESS_TOKEN");
        pair = alive(herd.first(), &key, winners(&answers)[0]).await;
    }
}

async fn a_phone_gets_no_more_codes_than_its_limit(database: Database) {
    keep_the_send_limit(Herd::one(database)).await;
}

async fn a_phone_gets_no_more_codes_than_its_limit_from_two_processes(database: Database) {
    keep_the_send_limit(Herd::two(database)).await;
}

async fn keep_the_send_limit(herd: Herd) {
    let project = herd.world().project("100");
    let mut paid = 0;
    for round in 0..ROUNDS {
        let (key, _, sends) = keys(&project)[round % 2];
        let body = json!({ "phone": herd.world().phone() });
        let send = |service: &Service, _| service.call(key, "/v1/otp/send", &body);
        let answers = herd.race(CROWD, send).await;
        expect(&answers, &[("200", sends), ("OTP_RATE_LIMITED", CROWD - sends)]);
        paid += if round % 2 == 0 { sends } else { 0 };
    }
    let balance = herd.world().balance(&project);
    assert_eq!(
        (&balance["balance_paise"], &balance["held_paise"]),
        (&json!(10_000 - 20 * paid), &json!(0))
    );
    herd.world().audit();
}

async fn a_balance_pays_for_what_it_covers(database: Database) {
    pay_for_seven(Herd::one(database)).await;
}

async fn a_balance_pays_for_what_it_covers_in_two_processes(database: Database) {
    pay_for_seven(Herd::two(database)).await;
}

async fn pay_for_seven(herd: Herd) {
    for _ in 0..ROUNDS {
        let project = herd.world().project("1.40");
        let send = |service: &Service, _| {
            let phone = service.world.phone();
            service.call(&project.live, "/v1/otp/send", &json!({ "phone": phone }))
        };
        let answers = herd.race(CROWD, send).await;
        expect(&answers, &[("200", 7), ("INSUFFICIENT_BALANCE", CROWD - 7)]);
        let balance = herd.world().balance(&project);
        assert_eq!((&balance["balance_paise"], &balance["held_paise"]), (&json!(0), &json!(0)));
    }
    herd.world().audit();
    let lines = herd.0.iter().flat_map(Service::stdout);
    assert_eq!(lines.filter(|line| line.contains("console")).count(), 7 * ROUNDS);
}

/// Two hundred times there is room for one more code in the limit of the day, and eight sends at once ask for it.
async fn a_day_spends_no_more_than_its_limit_in_two_processes(database: Database) {
    const EDGES: usize = 200;
    let herd = Herd::two(database);
    let project = herd.world().project("100");
    let send = |service: &Service, _| {
        let phone = service.world.phone();
        service.call(&project.live, "/v1/otp/send", &json!({ "phone": phone }))
    };
    for edge in 1..=EDGES {
        // Less than a second price is left.
        let limit = format!("{}.{:02}", (20 * edge + 19) / 100, (20 * edge + 19) % 100);
        let set = ["project", "set", "--project", &project.id, "--daily-spend-rupees", &limit];
        herd.world().cli(&set);
        expect(&herd.race(8, send).await, &[("200", 1), ("SPEND_LIMIT_REACHED", 7)]);
    }
    let balance = herd.world().balance(&project);
    let left = 10_000 - 20 * EDGES;
    assert_eq!((&balance["balance_paise"], &balance["held_paise"]), (&json!(left), &json!(0)));
    herd.world().audit();
}

async fn an_idempotency_key_sends_once(database: Database) {
    send_once(Herd::one(database)).await;
}

async fn an_idempotency_key_sends_once_over_two_processes(database: Database) {
    send_once(Herd::two(database)).await;
}

async fn send_once(herd: Herd) {
    const HALF: usize = CROWD / 2;
    let project = herd.world().project("100");
    for round in 1..=ROUNDS {
        let body = json!({ "phone": herd.world().phone() });
        let send = |service: &Service, _| {
            let call = service.call(&project.live, "/v1/otp/send", &body);
            call.header("Idempotency-Key", format!("round-{round}"))
        };
        let answers = herd.race(HALF, send).await;
        let sent = winners(&answers);
        assert!(!sent.is_empty() && sent.iter().all(|body| *body == sent[0]), "{sent:?}");
        let firsts = answers.iter().filter(|answer| {
            answer.status == 200 && answer.header("idempotent-replayed").is_empty()
        });
        assert_eq!(firsts.count(), 1);
        let conflicts = tally(&answers).get("IDEMPOTENCY_CONFLICT").copied().unwrap_or_default();
        assert_eq!(sent.len() + conflicts, HALF, "{:?}", tally(&answers));
        let lines = herd.0.iter().flat_map(Service::stdout);
        assert_eq!(lines.filter(|line| line.contains("console")).count(), round);
        assert_eq!(herd.world().balance(&project)["balance_paise"], 10_000 - 20 * round);
    }
    herd.world().audit();
}

async fn nothing_of_a_deleted_identity_survives(database: Database) {
    let herd = Herd::two(database);
    let world = herd.world();
    let project = world.project("0");
    world.cli(&["project", "set", "--project", &project.id, "--identity-delete", "on"]);
    let key = project.test.as_str();
    for _ in 0..4 * ROUNDS {
        let phone = world.phone();
        let sessions =
            [herd.first().log_in(key, &phone).await, herd.first().log_in(key, &phone).await];
        let identity = sessions[0]["identity_id"].as_str().unwrap().to_owned();
        herd.first().send(key, &phone).await.ok();
        let code = herd.first().code(key, &phone).await;

        let answers = herd
            .race(12, |service, n| match n {
                4 => {
                    let path = format!("/v1/identity/{identity}");
                    service.request(Method::DELETE, &path).header("X-Api-Key", key)
                }
                _ if n % 3 == 0 => verification(service, key, &phone, &code),
                _ => {
                    let body = json!({ "refresh_token": sessions[n % 2]["refresh_token"] });
                    service.call(key, "/v1/session/refresh", &body)
                }
            })
            .await;
        assert!(answers.iter().all(|answer| !answer.status.is_server_error()), "{answers:?}");
        assert_eq!(answers[4].body["deleted"], true, "{}", answers[4].text);

        let pairs = winners(&answers).into_iter().filter(|body| body["access_token"].is_string());
        for pair in pairs.chain(&sessions) {
            if pair["identity_id"] == identity.as_str() {
                for service in &herd.0 {
                    dead(service, key, pair).await;
                }
            } else {
                // The code was accepted, and the old identity was deleted before the login was complete: the
                // login made a new identity.
                alive(herd.first(), key, pair).await;
            }
        }
    }
}

/// Either the logout came first, and nothing works, or the refresh did: then its pair works, and
/// the logout was refused, because its token was no longer valid.
async fn nothing_of_a_session_survives_its_logout(database: Database) {
    let herd = Herd::two(database);
    let key = herd.world().project("0").test;
    let mut ended = 0;
    for round in 0..10 * ROUNDS {
        let old = herd.first().log_in(&key, &herd.world().phone()).await;
        let answers = herd
            .race(2, |service, n| {
                // Logout and refresh take turns in being the first call and in calling the first process.
                if (n + round) % 2 == 0 {
                    let body = json!({ "access_token": old["access_token"] });
                    service.call(&key, "/v1/session/logout", &body)
                } else {
                    let body = json!({ "refresh_token": old["refresh_token"] });
                    service.call(&key, "/v1/session/refresh", &body)
                }
            })
            .await;
        let (logout, refresh) = (&answers[round % 2], &answers[(round + 1) % 2]);
        dead_access(&herd, &key, &old).await;
        if logout.status == 200 {
            ended += 1;
            dead(herd.first(), &key, &old).await;
            if refresh.status == 200 {
                dead(herd.first(), &key, &refresh.body).await;
            } else {
                refresh.refused(401, "SESSION_EXPIRED");
            }
        } else {
            logout.refused(401, "INVALID_ACCESS_TOKEN");
            alive(herd.first(), &key, &refresh.body).await;
        }
    }
    assert!(ended > 0, "the logout never came first");
}

async fn a_session_ends_once(database: Database) {
    const FEW: usize = 8;
    let herd = Herd::two(database);
    let key = herd.world().project("0").test;
    for _ in 0..5 * ROUNDS {
        let pair = herd.first().log_in(&key, &herd.world().phone()).await;
        let body = json!({ "access_token": pair["access_token"] });
        let logout = |service: &Service, _| service.call(&key, "/v1/session/logout", &body);
        let answers = herd.race(FEW, logout).await;
        expect(&answers, &[("200", 1), ("INVALID_ACCESS_TOKEN", FEW - 1)]);
        dead(herd.first(), &key, &pair).await;
    }
}

async fn dead_access(herd: &Herd, key: &str, pair: &Value) {
    for service in &herd.0 {
        let access = service.validate(key, &pair["access_token"]).await;
        access.refused(401, "INVALID_ACCESS_TOKEN");
    }
}
