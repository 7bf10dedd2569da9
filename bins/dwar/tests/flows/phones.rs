//! Limits per phone: messages, costs, and guesses.

use crate::common::{
    Answer, Database, Play, Project, Service, Vendor, World, at_once, tally, wrong,
};
use dwar_testkit::reserved_port;
use reqwest::Method;
use serde_json::{Value, json};
use std::io::Write;
use std::time::{Duration, Instant};

on_both_databases! {
    failed_receipts_make_no_room_for_more_messages;
    a_provider_slower_than_the_call_limit_makes_no_room_for_more_messages;
    providers_that_refuse_are_asked_ten_times_in_a_window;
    what_never_reached_a_provider_counts_nowhere;
    a_code_is_verified_for_the_request_that_is_named;
    an_operator_lifts_the_stop_of_a_phone;
    a_double_tap_while_a_code_is_sent_again_stalls_nobody;
}

const PATIENCE: Duration = Duration::from_secs(20);

async fn service_with(database: Database, timeout_ms: &str, play: Play) -> (Service, Vendor) {
    let port = reserved_port();
    let vendor = Vendor::start(port, move |_, _| play).await;
    let world = World::new(database)
        .with("DWAR__HTTP__ADDRESS", &format!("127.0.0.1:{port}"))
        .with("DWAR__GATEWAYS__FALLBACK_WINDOW_SECONDS", "5")
        .with("DWAR__GATEWAYS__BREAKER_FAULTS", "1000000")
        .with("DWAR__GATEWAYS__CALL_TIMEOUT_MS", timeout_ms);
    (Service::start_in(vendor.carry(world)), vendor)
}

fn number(answer: &Answer, header: &str) -> u64 {
    answer.header(header).parse().unwrap_or_else(|_| panic!("{header}: {:?}", answer.headers))
}

/// Waits until the send has ended, and returns its final status.
async fn ended(service: &Service, project: &Project, otp: &Value) -> String {
    let path = format!("/v1/otp/status/{}", otp.as_str().unwrap());
    let until = Instant::now() + PATIENCE;
    loop {
        let status = service.get(&project.live, &path).await.ok();
        let word = status["status"].as_str().unwrap().to_owned();
        if word == "failed" || word == "delivered" {
            return word;
        }
        assert!(Instant::now() < until, "{status}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn failed_receipts_make_no_room_for_more_messages(database: Database) {
    let (service, vendor) = service_with(database, "2000", Play::FailLater).await;
    let project = service.world.project("10");
    let phone = service.world.phone();
    for left in [2, 1, 0] {
        let sent = service.send(&project.live, &phone).await;
        assert_eq!(number(&sent, "ratelimit-remaining"), left);
        let sent = sent.ok();
        assert_eq!(ended(&service, &project, &sent["otp_id"]).await, "failed");
    }
    let calls = vendor.taken().len();
    assert_eq!(calls, 6, "three sends over two channels");
    for _ in 0..10 {
        let refused = service.send(&project.live, &phone).await;
        refused.refused(429, "OTP_RATE_LIMITED");
        assert!((500..=600).contains(&number(&refused, "retry-after")));
        assert_eq!(number(&refused, "ratelimit-remaining"), 0);
    }
    assert_eq!(vendor.taken().len(), calls, "a refused send called a provider");
    // A failed send is not charged; another phone is not affected.
    let until = Instant::now() + PATIENCE;
    loop {
        let balance = service.world.balance(&project);
        if (&balance["balance_paise"], &balance["held_paise"]) == (&json!(1000), &json!(0)) {
            break;
        }
        assert!(Instant::now() < until, "{balance}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    service.send(&project.live, &service.world.phone()).await.ok();
    service.world.audit();
}

async fn a_provider_slower_than_the_call_limit_makes_no_room_for_more_messages(database: Database) {
    let (service, vendor) = service_with(database, "300", Play::Hang).await;
    let project = service.world.project("10");
    let phone = service.world.phone();
    for left in [2, 1, 0] {
        let failed = service.send(&project.live, &phone).await;
        failed.refused(500, "SMS_FAILED");
        assert_eq!(number(&failed, "ratelimit-remaining"), left);
    }
    let calls = vendor.taken().len();
    assert_eq!(calls, 6, "three sends over two channels");
    for _ in 0..10 {
        let refused = service.send(&project.live, &phone).await;
        refused.refused(429, "OTP_RATE_LIMITED");
        assert!((500..=600).contains(&number(&refused, "retry-after")));
    }
    assert_eq!(vendor.taken().len(), calls, "a refused send called a provider");
    let balance = service.world.balance(&project);
    assert_eq!((&balance["balance_paise"], &balance["held_paise"]), (&json!(1000), &json!(0)));
}

async fn providers_that_refuse_are_asked_ten_times_in_a_window(database: Database) {
    let (service, vendor) = service_with(database, "2000", Play::NotOnChannel).await;
    let project = service.world.project("10");
    let phone = service.world.phone();
    for send in 1..=10_u64 {
        let failed = service.send(&project.live, &phone).await;
        failed.refused(500, "SMS_FAILED");
        // None of the three places is taken, until fewer than three of the ten are left.
        assert_eq!(number(&failed, "ratelimit-remaining"), (10 - send).min(3));
    }
    let calls = vendor.taken().len();
    let refused = service.send(&project.live, &phone).await;
    refused.refused(429, "OTP_RATE_LIMITED");
    assert!((500..=600).contains(&number(&refused, "retry-after")));
    assert_eq!(vendor.taken().len(), calls, "a refused send called a provider");
    service.send(&project.live, &service.world.phone()).await.refused(500, "SMS_FAILED");
}

async fn what_never_reached_a_provider_counts_nowhere(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let phone = service.world.phone();
    for _ in 0..12 {
        let poor = service.send(&project.live, &phone).await;
        poor.refused(402, "INSUFFICIENT_BALANCE");
        assert_eq!(number(&poor, "ratelimit-remaining"), 3);
    }
    service.world.cli(&["wallet", "credit", "--project", &project.id, "--rupees", "10"]);
    let sent = service.send(&project.live, &phone).await;
    assert_eq!(number(&sent, "ratelimit-remaining"), 2);
    sent.ok();
}

async fn a_code_is_verified_for_the_request_that_is_named(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("10");
    for key in [&project.live, &project.test] {
        let phone = service.world.phone();
        let old = service.send(key, &phone).await.ok()["otp_id"].clone();
        let first = service.code(key, &phone).await;
        let new = service.send(key, &phone).await.ok()["otp_id"].clone();
        let mut code = service.code(key, &phone).await;
        while code == first && key.starts_with("svc_live_") {
            tokio::time::sleep(Duration::from_millis(20)).await;
            code = service.code(key, &phone).await;
        }
        let verify = async |otp: Value, code: &str| {
            let body = json!({ "phone": phone, "code": code, "otp_id": otp });
            service.post(key, "/v1/otp/verify", body).await
        };
        let nobodys = json!("01920000-0000-7000-8000-000000000000");
        for otp in [old, nobodys, json!("x"), json!(""), json!(7), json!(["x"])] {
            for code in [code.as_str(), &wrong(&code, 0)] {
                verify(otp.clone(), code).await.refused(400, "OTP_NOT_FOUND");
            }
        }
        // None of these was an attempt.
        let judged = verify(Value::Null, &wrong(&code, 0)).await;
        judged.refused(400, "INVALID_OTP");
        let limit = number(&judged, "ratelimit-limit");
        assert_eq!(number(&judged, "ratelimit-remaining"), limit - 1);
        verify(new.clone(), &wrong(&code, 1)).await.refused(400, "INVALID_OTP");
        verify(new.clone(), &code).await.ok();
        verify(new, &code).await.refused(400, "OTP_NOT_FOUND");
    }
}

async fn an_operator_lifts_the_stop_of_a_phone(database: Database) {
    let world = World::new(database).with("DWAR__LIMITS__GUESSES__STOP_AT", "5");
    let service = Service::start_in(world);
    let project = service.world.project("10");
    let (key, phone) = (project.live.as_str(), service.world.phone());
    let unlock = |phone: &str| {
        service.world.cli(&["project", "unlock", "--project", &project.id, "--phone", phone])
    };
    assert_eq!(unlock(&phone)["was"], "usual");
    service.send(key, &phone).await.ok();
    let code = service.code(key, &phone).await;
    for n in 0..5 {
        service.verify(key, &phone, &wrong(&code, n)).await.refused(400, "INVALID_OTP");
    }
    let stopped = service.send(key, &phone).await;
    stopped.refused(429, "OTP_RATE_LIMITED");
    assert!((86_300..=86_400).contains(&number(&stopped, "retry-after")));
    assert_eq!(unlock(&service.world.phone())["was"], "usual");

    let lifted = unlock(&format!("+91{phone}"));
    let masked = format!("+91{}••••{}", &phone[..2], &phone[6..]);
    assert_eq!((&lifted["was"], &lifted["phone"]), (&json!("stopped"), &json!(masked)));
    assert_eq!((&lifted["wrong_in_a_row"], &lifted["wrong_in_period"]), (&json!(5), &json!(5)));
    assert_eq!(unlock(&phone)["was"], "usual");
    service.send(key, &phone).await.ok();
    let code = service.code(key, &phone).await;
    service.verify(key, &phone, &wrong(&code, 0)).await.refused(400, "INVALID_OTP");
    let of = ["project", "unlock", "--project", &project.id, "--phone", &phone];
    let told = String::from_utf8(service.world.run(&of).stdout).unwrap();
    assert!(told.contains("Failed attempts cleared: 1 in a row, 1 since 20"), "{told}");
    service.log_in(key, &phone).await;

    let nobody = ["project", "unlock", "--project", "01920000-0000-7000-8000-000000000000"];
    let refused = service.world.run(&[nobody.as_slice(), &["--phone", &phone]].concat());
    assert_eq!(refused.status.code(), Some(1));
    let unreadable = ["project", "unlock", "--project", &project.id, "--phone", "12"];
    assert_eq!(service.world.run(&unreadable).status.code(), Some(2));
}

const ROUNDS: usize = 100;

/// Right verifications and one resend of the same phone at the same time. Two locks taken in two
/// orders would cost a stall of the database's whole deadlock time-out, and refusals if more wait
/// behind it.
async fn a_double_tap_while_a_code_is_sent_again_stalls_nobody(database: Database) {
    // Reading the inbox counts in the general window.
    let world = World::new(database).with("DWAR__LIMITS__TEST__GENERAL_PER_MINUTE", "1000000");
    let service = Service::start_in(world);
    let key = service.world.project("0").test;
    for verifications in [2, 3] {
        let (mut stalled, mut refused, mut longest) = (0, 0, Duration::ZERO);
        for _ in 0..ROUNDS {
            let phone = service.world.phone();
            service.send(&key, &phone).await.ok();
            let code = service.code(&key, &phone).await;
            let verify = json!({ "phone": phone, "code": code });
            let mut calls: Vec<_> =
                (0..verifications).map(|_| service.call(&key, "/v1/otp/verify", &verify)).collect();
            calls.push(service.call(&key, "/v1/otp/send", &json!({ "phone": phone })));
            let began = Instant::now();
            let answers = at_once(calls).await;
            let took = began.elapsed();
            longest = longest.max(took);
            // The database looks for a deadlock after one second; no delay of a scheduler is as
            // long.
            stalled += usize::from(took >= Duration::from_millis(900));
            refused += answers.iter().filter(|a| a.status.is_server_error()).count();
            assert_eq!(answers[verifications].status, 200, "{:?}", tally(&answers));
            let logins = answers[..verifications].iter().filter(|a| a.status == 200).count();
            assert!(logins <= 1, "{:?}", tally(&answers));
        }
        // Bypasses the test runner, which hides what a passing test prints.
        let told = writeln!(
            std::io::stderr().lock(),
            "{verifications} verifications and a resend at once: {stalled} of {ROUNDS} rounds \
             stalled, {refused} calls refused, {longest:?} at most"
        );
        told.unwrap();
        assert_eq!(refused, 0);
        // One stall of the machine itself is tolerated.
        assert!(stalled <= 1, "{stalled} of {ROUNDS} rounds stalled");
    }
    let gone = service.request(Method::GET, "/readyz").send().await.unwrap();
    assert_eq!(gone.status(), 200);
}
