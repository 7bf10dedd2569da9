//! The table of limits (docs/contract.md, Limits), over HTTP, and the counts that survive a crash.

use crate::common::{Answer, Database, Service, World, at_once, tally, wrong};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

on_both_databases! {
    every_window_admits_exactly_its_number;
    a_crowd_gets_exactly_what_one_by_one_would;
    sends_and_verifications_take_nothing_from_the_windows;
    an_invalid_key_consumes_nothing;
    wrong_guesses_slow_the_sends_to_a_phone_down;
    wrong_guesses_stop_the_sends_to_a_phone;
    a_refusal_says_what_it_was_refused_by_where_the_limit_is_one;
    a_test_key_may_guess_as_it_likes;
    the_send_limit_survives_a_crash;
    wrong_guesses_survive_a_crash;
}

const PATIENCE: Duration = Duration::from_secs(20);
const VALIDATE: &str = "/v1/session/validate";
const STATUS: &str = "/v1/otp/status/unknown";

fn number(answer: &Answer, header: &str) -> u64 {
    answer.header(header).parse().unwrap_or_else(|_| panic!("{header}: {:?}", answer.headers))
}

/// Repeats a call until the window is exhausted, and checks every answer.
async fn use_up(limit: u64, refusal: (u16, &str), call: impl Fn() -> RequestBuilder) {
    for used in 1..=limit {
        let answer = crate::common::answer(call()).await;
        answer.refused(refusal.0, refusal.1);
        assert_eq!(number(&answer, "ratelimit-limit"), limit);
        assert_eq!(number(&answer, "ratelimit-remaining"), limit - used);
        assert!((1..=60).contains(&number(&answer, "ratelimit-reset")));
        assert_eq!(answer.header("retry-after"), "");
    }
    // A refused request is not counted: the second waits no longer than the first.
    let mut wait = 60;
    for _ in 0..3 {
        let answer = crate::common::answer(call()).await;
        answer.refused(429, "RATE_LIMITED");
        assert!((1..=wait).contains(&number(&answer, "retry-after")), "{:?}", answer.headers);
        assert_eq!(number(&answer, "ratelimit-limit"), limit);
        assert_eq!(number(&answer, "ratelimit-remaining"), 0);
        assert!((1..=wait).contains(&number(&answer, "ratelimit-reset")));
        wait = number(&answer, "retry-after");
    }
}

async fn every_window_admits_exactly_its_number(database: Database) {
    let service = Service::start(database);
    let (project, other) = (service.world.project("0"), service.world.project("0"));
    let body = json!({ "access_token": "a.b.c" });
    let validate = || service.call(&project.test, VALIDATE, &body);
    let status = || service.request(Method::GET, STATUS).header("X-Api-Key", &project.test);
    use_up(300, (401, "INVALID_ACCESS_TOKEN"), validate).await;
    // Its own window: the general one is unaffected.
    use_up(100, (404, "OTP_REQUEST_NOT_FOUND"), status).await;
    // One window for all the others.
    for path in ["/v1/session/refresh", "/v1/session/logout"] {
        service.post(&project.test, path, json!({})).await.refused(429, "RATE_LIMITED");
    }
    service.get(&project.test, "/v1/identity?phone=").await.refused(429, "RATE_LIMITED");
    service.delete(&project.test, "/v1/identity/x").await.refused(429, "RATE_LIMITED");
    // Neither the project's other key nor another project is affected.
    for (key, general, validate) in
        [(&project.live, 1_000, 3_000), (&other.test, 100, 300), (&other.live, 1_000, 3_000)]
    {
        let answer = service.get(key, STATUS).await;
        answer.refused(404, "OTP_REQUEST_NOT_FOUND");
        assert_eq!(number(&answer, "ratelimit-limit"), general);
        assert_eq!(number(&answer, "ratelimit-remaining"), general - 1);
        let answer = service.post(key, VALIDATE, body.clone()).await;
        answer.refused(401, "INVALID_ACCESS_TOKEN");
        assert_eq!(number(&answer, "ratelimit-limit"), validate);
        assert_eq!(number(&answer, "ratelimit-remaining"), validate - 1);
    }
}

async fn a_crowd_gets_exactly_what_one_by_one_would(database: Database) {
    let service = Service::start(database);
    let key = service.world.project("0").test;
    let status = || service.request(Method::GET, STATUS).header("X-Api-Key", &key);
    let answers = at_once((0..250).map(|_| status())).await;
    let tally = tally(&answers);
    assert_eq!((tally["OTP_REQUEST_NOT_FOUND"], tally["RATE_LIMITED"]), (100, 150));
    let mut left: Vec<u64> = answers
        .iter()
        .filter(|answer| answer.code() != "RATE_LIMITED")
        .map(|answer| number(answer, "ratelimit-remaining"))
        .collect();
    left.sort_unstable();
    assert!(left.into_iter().eq(0..100));
}

async fn sends_and_verifications_take_nothing_from_the_windows(database: Database) {
    let service = Service::start(database);
    let key = service.world.project("0").test;
    let phone = service.world.phone();
    for round in 0..20 {
        let sent = service.send(&key, &phone).await;
        assert_eq!(number(&sent, "ratelimit-limit"), 20);
        assert_eq!(number(&sent, "ratelimit-remaining"), 19 - round);
        sent.ok();
    }
    let full = service.send(&key, &phone).await;
    full.refused(429, "OTP_RATE_LIMITED");
    assert!((1..=600).contains(&number(&full, "retry-after")));
    for left in (0..20).rev() {
        let judged = service.verify(&key, &phone, "000000").await;
        judged.refused(400, "INVALID_OTP");
        assert_eq!(number(&judged, "ratelimit-limit"), 20);
        assert_eq!(number(&judged, "ratelimit-remaining"), left);
    }
    let locked = service.verify(&key, &phone, "000000").await;
    locked.refused(429, "VERIFY_RATE_LIMITED");
    assert!((1..=600).contains(&number(&locked, "retry-after")));
    // More calls of these two than the general window allows.
    for _ in 0..100 {
        service.verify(&key, "1", "000000").await.refused(422, "INVALID_PHONE");
        service.send(&key, "1").await.refused(422, "INVALID_PHONE");
    }
    let status = service.get(&key, STATUS).await;
    assert_eq!(number(&status, "ratelimit-remaining"), 99);
    let validated = service.post(&key, VALIDATE, json!({})).await;
    assert_eq!(number(&validated, "ratelimit-remaining"), 299);
}

async fn an_invalid_key_consumes_nothing(database: Database) {
    let service = Service::start(database);
    let key = service.world.project("0").test;
    let old = service.world.project("0");
    service.world.cli(&["key", "regenerate", "--project", &old.id, "--mode", "test"]);
    // No key, a key with a wrong checksum, and a replaced key.
    let last = if key.ends_with('0') { '1' } else { '0' };
    let mistyped = format!("{}{last}", &key[..key.len() - 1]);
    for _ in 0..150 {
        for invalid in ["", &mistyped, &old.test] {
            let answer = service.get(invalid, STATUS).await;
            assert_eq!(answer.status, 401, "{}", answer.text);
            assert_eq!(answer.header("ratelimit-limit"), "");
        }
    }
    let answer = service.get(&key, STATUS).await;
    assert_eq!(number(&answer, "ratelimit-remaining"), 99);
}

/// Sends `count` wrong codes.
async fn guess(service: &Service, key: &str, phone: &str, code: &str, count: u32) {
    for n in 0..count {
        service.verify(key, phone, &wrong(code, n)).await.refused(400, "INVALID_OTP");
    }
}

async fn wrong_guesses_slow_the_sends_to_a_phone_down(database: Database) {
    let world = World::new(database)
        .with("DWAR__LIMITS__GUESSES__SLOW_FROM", "2")
        .with("DWAR__LIMITS__GUESSES__SLOWER_FROM", "4");
    let service = Service::start_in(world);
    let project = service.world.project("100");
    let (key, phone) = (project.live.as_str(), service.world.phone());
    service.send(key, &phone).await.ok();
    let code = service.code(key, &phone).await;
    for (wait, least) in [(600, 500), (3_600, 3_000)] {
        guess(&service, key, &phone, &code, 2).await;
        let slowed = service.send(key, &phone).await;
        slowed.refused(429, "OTP_RATE_LIMITED");
        assert!((least..=wait).contains(&number(&slowed, "retry-after")), "{:?}", slowed.headers);
        assert_eq!(number(&slowed, "ratelimit-limit"), 1);
    }
    // Neither another phone nor another project is affected.
    service.log_in(key, &service.world.phone()).await;
    let other = service.world.project("100");
    service.log_in(&other.live, &phone).await;
    // The refused sends replaced neither the code nor used the phone's allowance.
    service.verify(key, &phone, &code).await.ok();
    let sent = service.send(key, &phone).await;
    assert_eq!((number(&sent, "ratelimit-limit"), number(&sent, "ratelimit-remaining")), (3, 1));
    sent.ok();
}

async fn wrong_guesses_stop_the_sends_to_a_phone(database: Database) {
    let world = World::new(database).with("DWAR__LIMITS__GUESSES__STOP_AT", "7");
    let service = Service::start_in(world);
    let project = service.world.project("100");
    let (key, phone) = (project.live.as_str(), service.world.phone());
    let mut code = String::new();
    for count in [5, 2] {
        service.send(key, &phone).await.ok();
        code = service.code(key, &phone).await;
        guess(&service, key, &phone, &code, count).await;
    }
    service.verify(key, &phone, &code).await.refused(429, "VERIFY_RATE_LIMITED");
    let stopped = service.send(key, &phone).await;
    stopped.refused(429, "OTP_RATE_LIMITED");
    assert!((86_300..=86_400).contains(&number(&stopped, "retry-after")));
    service.log_in(key, &service.world.phone()).await;

    // The count is on disk, and the stop ends by itself.
    let mut world = service.kill();
    world = world
        .with("DWAR__LIMITS__GUESSES__STOP_SECONDS", "1")
        .with("DWAR__LIMITS__GUESSES__STOP_PACE_SECONDS", "1");
    tokio::time::sleep(Duration::from_millis(1_000)).await;
    let service = Service::start_in(world);
    service.log_in(key, &phone).await;
}

async fn a_refusal_says_what_it_was_refused_by_where_the_limit_is_one(database: Database) {
    let world = World::new(database)
        .with("DWAR__DASHBOARD__ADDRESS", "127.0.0.1:0")
        .with("DWAR__LIMITS__LIVE__SEND", "1")
        .with("DWAR__LIMITS__GUESSES__SLOW_FROM", "1");
    let service = Service::start_in(world);
    let project = service.world.project("100");
    let key = project.live.as_str();
    for wrong in [0, 1] {
        let phone = service.world.phone();
        service.send(key, &phone).await.ok();
        let code = service.code(key, &phone).await;
        guess(&service, key, &phone, &code, wrong).await;
        service.send(key, &phone).await.refused(429, "OTP_RATE_LIMITED");
    }
    let token = ["admin-token", "add", "--name", "watch", "--everything", "--days", "1"];
    let token = service.world.cli(&token)["secret"].clone();
    let path = format!("/admin/v1/projects/{}/requests/refused", project.id);
    let url = service.dashboard() + &path;
    // They are written once a second.
    let until = Instant::now() + PATIENCE;
    let told = loop {
        let asked = reqwest::Client::new().get(&url).bearer_auth(token.as_str().unwrap());
        let told: Value = asked.send().await.unwrap().json().await.unwrap();
        let counts = told["items"].as_array().unwrap().iter().map(|it| it["count"].as_u64());
        if counts.flatten().sum::<u64>() == 2 {
            break told;
        }
        assert!(Instant::now() < until, "{told}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    let items = told["items"].as_array().unwrap();
    let mut reasons: Vec<_> = items.iter().filter_map(|it| it["reason"].as_str()).collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["limit", "pace"]);
}

async fn a_test_key_may_guess_as_it_likes(database: Database) {
    let world = World::new(database)
        .with("DWAR__LIMITS__GUESSES__SLOW_FROM", "1")
        .with("DWAR__LIMITS__GUESSES__STOP_AT", "2");
    let service = Service::start_in(world);
    let key = service.world.project("0").test;
    let phone = service.world.phone();
    for _ in 0..3 {
        service.send(&key, &phone).await.ok();
        let code = service.code(&key, &phone).await;
        guess(&service, &key, &phone, &code, 19).await;
        service.verify(&key, &phone, &code).await.ok();
    }
}

async fn the_send_limit_survives_a_crash(database: Database) {
    let mut service = Service::start(database);
    let project = service.world.project("100");
    for (key, limit) in [(&project.live, 3), (&project.test, 20)] {
        let phone = service.world.phone();
        for _ in 0..limit {
            service.send(key, &phone).await.ok();
        }
        service = Service::start_in(service.kill());
        service.send(key, &phone).await.refused(429, "OTP_RATE_LIMITED");
        service.send(key, &service.world.phone()).await.ok();
    }
}

async fn wrong_guesses_survive_a_crash(database: Database) {
    let mut service = Service::start(database);
    let project = service.world.project("100");
    for (key, before, after) in [(&project.live, 3, 2), (&project.test, 18, 2)] {
        let phone = service.world.phone();
        service.send(key, &phone).await.ok();
        let code = service.code(key, &phone).await;
        guess(&service, key, &phone, &code, before).await;
        service = Service::start_in(service.kill());
        guess(&service, key, &phone, &code, after).await;
        service.verify(key, &phone, &code).await.refused(429, "VERIFY_RATE_LIMITED");
    }
}
