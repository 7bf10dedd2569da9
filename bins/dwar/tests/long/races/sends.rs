//! Sends at the edge of a limit, of a balance and of a day, and repeated ones.

use super::{CROWD, Herd, ROUNDS, expect, keys, winners};
use crate::common::{Database, Service, tally};
use serde_json::json;

on_both_databases! {
    a_phone_gets_no_more_codes_than_its_limit;
    a_phone_gets_no_more_codes_than_its_limit_from_two_processes;
    a_balance_pays_for_what_it_covers;
    a_balance_pays_for_what_it_covers_in_two_processes;
    a_day_spends_no_more_than_its_limit_in_two_processes;
    a_phone_gets_no_more_codes_than_its_day_has_places_in_two_processes;
    an_idempotency_key_sends_once;
    an_idempotency_key_sends_once_over_two_processes;
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

/// Two hundred phones have one or two places left of the thirty that the guard allows in a day, and eight sends at once
/// ask for them.
async fn a_phone_gets_no_more_codes_than_its_day_has_places_in_two_processes(database: Database) {
    const PHONES: usize = 100;
    const DAY: usize = 30;
    let herd = Herd::two(database);
    for left in [1, 2] {
        let project = herd.world().project("100");
        let set = ["project", "set", "--project", &project.id, "--guard", "enforce"];
        herd.world().cli(&set);
        let phones: Vec<String> = (0..PHONES).map(|_| herd.world().phone()).collect();
        let send = |service: &Service, phone| {
            // With a proof, so that no level of the guard refuses.
            let body = json!({ "phone": phone, "visitor": { "trusted": true } });
            service.call(&project.live, "/v1/otp/send", &body)
        };
        let answers = herd.race(PHONES, |service, n| send(service, &phones[n])).await;
        expect(&answers, &[("200", PHONES)]);
        herd.world().age_places(&project, DAY - left).await;
        for phone in &phones {
            let answers = herd.race(8, |service, _| send(service, phone)).await;
            expect(&answers, &[("200", left), ("OTP_RATE_LIMITED", 8 - left)]);
            // Until the oldest place is a day old, and not until ten minutes are over.
            for refused in answers.iter().filter(|answer| answer.status == 429) {
                let seconds: u64 = refused.header("retry-after").parse().unwrap();
                assert!((600..86_400).contains(&seconds), "{seconds}");
            }
        }
        let id = herd.world().database.id(&project.id);
        let full = format!(
            "SELECT count(*) FROM (SELECT count(*) AS places FROM send_slots \
             WHERE project_id = {id} AND NOT forgiven GROUP BY phone_index) AS phones WHERE places = {DAY}"
        );
        assert_eq!(herd.world().database.number(&full).await, PHONES as i64);
        let balance = herd.world().balance(&project);
        let paid = 20 * PHONES * (1 + left);
        assert_eq!(
            (&balance["balance_paise"], &balance["held_paise"]),
            (&json!(10_000 - paid), &json!(0))
        );
    }
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
