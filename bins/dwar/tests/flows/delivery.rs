//! Real delivery: a provider, its receipts, the fallback, and the money.

use crate::common::{Database, Play, Service, Vendor, World, answer};
use dwar_testkit::reserved_port;
use reqwest::Method;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::time::{Duration, Instant};

on_both_databases! {
    a_code_goes_out_over_whatsapp_and_its_receipt_counts;
    a_late_failure_brings_an_sms_with_the_same_code;
    no_receipt_in_time_brings_an_sms;
    a_provider_out_of_order_costs_nothing;
    a_project_chooses_its_own_providers_and_text;
    a_provider_that_asks_for_a_pause_is_passed_over;
    a_relayed_code_goes_past_a_text_of_other_minutes;
    a_relayed_code_goes_past_a_provider_of_other_minutes;
    a_text_is_judged_by_ten_digits_and_one_that_is_stored_still_goes_out;
    a_thousand_sends_through_twenty_crashes;
}

/// A time limit for calls that holds on a busy machine.
const PATIENT: &str = "2000";

fn world(database: Database, port: u16) -> World {
    World::new(database)
        .with("DWAR__HTTP__ADDRESS", &format!("127.0.0.1:{port}"))
        .with("DWAR__GATEWAYS__FALLBACK_WINDOW_SECONDS", "1")
        .with("DWAR__GATEWAYS__BREAKER_FAULTS", "1000000")
}

async fn service_with(
    database: Database,
    timeout_ms: &str,
    plays: impl Fn(&str, &str) -> Play + Send + Sync + 'static,
) -> (Service, Vendor) {
    let port = reserved_port();
    let vendor = Vendor::start(port, plays).await;
    let world = world(database, port).with("DWAR__GATEWAYS__CALL_TIMEOUT_MS", timeout_ms);
    let service = Service::start_in(vendor.carry(world));
    (service, vendor)
}

/// The status of a send, once it is the expected one.
async fn eventually(service: &Service, key: &str, otp: &Value, status: &str) -> Value {
    let path = format!("/v1/otp/status/{}", otp.as_str().unwrap());
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let now = service.get(key, &path).await.ok();
        if now["status"] == status {
            return now;
        }
        assert!(Instant::now() < until, "{now}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn attempts(status: &Value) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let each = status["attempts"].as_array().unwrap().iter();
    each.map(|a| (text(&a["provider"]), text(&a["status"]), text(&a["reason"]))).collect()
}

fn attempt(provider: &str, status: &str, reason: &str) -> (String, String, String) {
    (provider.to_owned(), status.to_owned(), reason.to_owned())
}

async fn a_code_goes_out_over_whatsapp_and_its_receipt_counts(database: Database) {
    let (service, vendor) = service_with(database, PATIENT, |_, _| Play::Deliver).await;
    let project = service.world.project("10");
    let sent = service.send(&project.live, "9876543210").await.ok();
    assert_eq!((&sent["status"], &sent["channel"]), (&json!("sent"), &json!("whatsapp")));
    let status = eventually(&service, &project.live, &sent["otp_id"], "delivered").await;
    assert_eq!(attempts(&status), [attempt("wa", "delivered", "-")]);
    let [message] = vendor.taken().try_into().unwrap();
    assert_eq!(message.to, "+919876543210");
    service.verify(&project.live, "9876543210", &message.text[..6]).await.ok();
    let balance = service.world.balance(&project);
    assert_eq!((&balance["balance_paise"], &balance["held_paise"]), (&json!(980), &json!(0)));

    // An unauthenticated receipt changes nothing, and its sender learns nothing.
    for path in ["/webhooks/wa", "/webhooks/wa?token=guess", "/webhooks/nobody"] {
        let receipt = json!({ "reference": "x", "status": "failed" });
        let call = answer(service.request(Method::POST, path).json(&receipt)).await;
        assert!(matches!(call.status.as_u16(), 401 | 404), "{}", call.text);
    }
}

async fn a_late_failure_brings_an_sms_with_the_same_code(database: Database) {
    let plays = |provider: &str, _: &str| match provider {
        "wa" => Play::FailLater,
        _ => Play::Deliver,
    };
    let (service, vendor) = service_with(database, PATIENT, plays).await;
    let project = service.world.project("10");
    let sent = service.send(&project.live, "9876543210").await.ok();
    let status = eventually(&service, &project.live, &sent["otp_id"], "delivered").await;
    let expected = [attempt("wa", "failed", "blocked"), attempt("text", "delivered", "-")];
    assert_eq!(attempts(&status), expected);
    let [first, second] = vendor.taken().try_into().unwrap();
    assert_eq!(first.text, second.text);
    assert_eq!((first.provider.as_str(), second.provider.as_str()), ("wa", "text"));
    assert_eq!(service.world.balance(&project)["balance_paise"], 975);
    service.verify(&project.live, "9876543210", &second.text[..6]).await.ok();
}

async fn no_receipt_in_time_brings_an_sms(database: Database) {
    let (service, vendor) = service_with(database, PATIENT, |_, _| Play::Accept).await;
    let project = service.world.project("10");
    let sent = service.send(&project.live, "9876543210").await.ok();
    let held = service.world.balance(&project);
    assert_eq!((&held["balance_paise"], &held["held_paise"]), (&json!(1000), &json!(25)));
    let until = Instant::now() + Duration::from_secs(10);
    while vendor.taken().len() < 2 {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    while service.world.balance(&project)["held_paise"] != 0 {
        assert!(Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let status = eventually(&service, &project.live, &sent["otp_id"], "sent").await;
    let expected = [attempt("wa", "sent", "-"), attempt("text", "sent", "-")];
    assert_eq!(attempts(&status), expected);
    // Both accepted: charged once, at the last one's price.
    assert_eq!(service.world.balance(&project)["balance_paise"], 975);
}

async fn a_provider_out_of_order_costs_nothing(database: Database) {
    let (service, vendor) = service_with(database, "400", |_, _| Play::Unavailable).await;
    let project = service.world.project("10");
    let phone = service.world.phone();
    service.send(&project.live, &phone).await.refused(500, "SMS_FAILED");
    assert_eq!(vendor.taken().len(), 2);
    let balance = service.world.balance(&project);
    assert_eq!((&balance["balance_paise"], &balance["held_paise"]), (&json!(1000), &json!(0)));
    // It used none of the phone's allowance, and left no code behind.
    for _ in 0..3 {
        service.send(&project.live, &phone).await.refused(500, "SMS_FAILED");
    }
    let code = vendor.taken().last().unwrap().text[..6].to_owned();
    service.verify(&project.live, &phone, &code).await.refused(400, "OTP_NOT_FOUND");
}

async fn a_project_chooses_its_own_providers_and_text(database: Database) {
    let (service, vendor) = service_with(database, PATIENT, |_, _| Play::Accept).await;
    let project = service.world.project("10");
    let set = |settings: &[&str]| {
        let command = [&["project", "set", "--project", &project.id], settings].concat();
        service.world.cli(&command)
    };
    set(&["--whatsapp-providers", "none", "--sms-providers", "text", "--fallback-seconds", "0"]);
    let text = "{brand}: {code} ({minutes} min)";
    let shown = set(&["--sms-text", text, "--brand", "Bazaar", "--webotp-domain", "in.bazaar.in"]);
    assert_eq!(shown["sms_parts"], 1);
    let sent = service.send(&project.live, "9876543210").await.ok();
    assert_eq!((&sent["status"], &sent["channel"]), (&json!("sent"), &json!("sms")));
    let [message] = vendor.taken().try_into().unwrap();
    let code = &message.text["Bazaar: ".len()..][..6];
    let expected = format!("Bazaar: {code} (10 min)\n\n@in.bazaar.in #{code}");
    assert_eq!((message.provider.as_str(), message.text.as_str()), ("text", expected.as_str()));
    service.verify(&project.live, "9876543210", code).await.ok();

    for (settings, complaint) in [
        (["--sms-providers", "nobody"], "`nobody` is not configured to carry sms"),
        (["--sms-text", "no code"], "{code} exactly once"),
        (["--webotp-domain", "https://x"], "host name"),
        (["--language", "xx-quatsch!!"], "BCP 47 tag"),
        (["--brand", "a brand that is far too long for any SMS"], "30 characters"),
    ] {
        let command = [&["project", "set", "--project", &project.id], settings.as_slice()].concat();
        let output = service.world.run(&command);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1));
        assert!(error.contains(complaint), "{error}");
    }
}

async fn a_provider_that_asks_for_a_pause_is_passed_over(database: Database) {
    let plays = |provider: &str, to: &str| match (provider, to.chars().last()) {
        ("wa", Some('1')) => Play::ThrottleNumber,
        ("wa", Some('2')) => Play::Throttle,
        _ => Play::Accept,
    };
    let (service, vendor) = service_with(database, PATIENT, plays).await;
    let project = service.world.project("10");
    let mut tried = Vec::new();
    // A refusal about one number, one about all of them, and then sends without a call.
    for phone in ["9876543211", "9876543212", "9876543213", "9876543214"] {
        let sent = service.send(&project.live, phone).await.ok();
        let path = format!("/v1/otp/status/{}", sent["otp_id"].as_str().unwrap());
        tried.push(attempts(&service.get(&project.live, &path).await.ok())[0].clone());
    }
    let refused = |reason| attempt("wa", "failed", reason);
    let expected = ["rejected_number", "provider_throttled"].map(refused);
    assert_eq!(tried[..2], expected);
    assert_eq!(tried[2..], ["provider_unavailable"; 2].map(refused));
    let called = vendor.taken().into_iter().filter(|taken| taken.provider == "wa");
    let called: Vec<_> = called.map(|taken| taken.to).collect();
    assert_eq!(called, ["+919876543211", "+919876543212"], "nobody is called meanwhile");
    let told = service.stderr();
    let line = told.iter().find(|line| line.contains("the provider asks for a pause")).unwrap();
    assert!(line.contains(r#""seconds":60"#), "{line}");
}

async fn a_relayed_code_goes_past_a_text_of_other_minutes(database: Database) {
    let plays = |provider: &str, to: &str| match (provider, to.chars().last()) {
        ("wa", Some('1')) => Play::Unavailable,
        ("wa", Some('2')) => Play::FailLater,
        _ => Play::Accept,
    };
    let (service, vendor) = service_with(database, PATIENT, plays).await;
    let project = service.world.project("10");
    let set = |settings: &[&str]| {
        let command = [&["project", "set", "--project", &project.id], settings].concat();
        service.world.cli(&command);
    };
    // The SMS text contains ten minutes in words.
    set(&["--relay-live", "on", "--sms-text", "{code}, good for 10 minutes"]);
    let relay = async |phone: &str, seconds: u32| {
        let body = json!({ "phone": phone, "code": "48291", "expires_in": seconds });
        service.post(&project.live, "/v1/otp/relay", body).await
    };
    let sent = relay("9876543213", 90).await.ok();
    assert_eq!(sent["channel"], "whatsapp");
    relay("9876543211", 90).await.refused(500, "SMS_FAILED");
    let sent = relay("9876543212", 90).await.ok();
    let status = eventually(&service, &project.live, &sent["otp_id"], "failed").await;
    assert_eq!(attempts(&status), [attempt("wa", "failed", "blocked")]);
    assert!(vendor.taken().iter().all(|taken| taken.provider == "wa"));
    // A code of ten minutes falls back to SMS.
    let sent = relay("9876543211", 600).await.ok();
    assert_eq!(sent["channel"], "sms");

    set(&["--whatsapp-providers", "none"]);
    let refused = relay("9876543213", 90).await;
    assert!(refused.text.contains("for codes that work for 600 seconds"), "{}", refused.text);
    refused.refused(422, "INVALID_FIELD");
    relay("9876543213", 600).await.ok();
}

async fn a_relayed_code_goes_past_a_provider_of_other_minutes(database: Database) {
    let plays = |provider: &str, to: &str| match (provider, to.chars().last()) {
        ("text", Some('1')) => Play::Unavailable,
        _ => Play::Accept,
    };
    let vendor = Vendor::start(0, plays).await;
    let world = vendor.carry(World::new(database));
    let world = world.with("DWAR__GATEWAYS__FIXED_MINUTES", "{ wa = 5, text = 10 }");
    let service = Service::start_in(world);
    let project = service.world.project("10");
    service.world.cli(&["project", "set", "--project", &project.id, "--relay-live", "on"]);
    let relay = async |phone: &str, seconds: u32| {
        let body = json!({ "phone": phone, "code": "48291", "expires_in": seconds });
        service.post(&project.live, "/v1/otp/relay", body).await
    };
    for (phone, seconds, channel) in
        [("9876543212", 300, "whatsapp"), ("9876543212", 600, "sms"), ("9876543213", 600, "sms")]
    {
        assert_eq!(relay(phone, seconds).await.ok()["channel"], channel, "{phone} {seconds}");
    }
    relay("9876543211", 600).await.refused(500, "SMS_FAILED");
    let refused = relay("9876543213", 60).await;
    assert!(refused.text.contains("codes that work for 300 or 600 seconds"), "{}", refused.text);
    refused.refused(422, "INVALID_FIELD");
    // A login code may take the whole route: its text is the one that the operator registered.
    assert_eq!(service.send(&project.live, "9876543214").await.ok()["channel"], "whatsapp");
}

async fn a_text_is_judged_by_ten_digits_and_one_that_is_stored_still_goes_out(database: Database) {
    let (service, vendor) = service_with(database, PATIENT, |_, _| Play::Accept).await;
    let project = service.world.project("10");
    let text = |filling: usize| format!("{{code}}{}", "x".repeat(filling));
    let set = |settings: &[&str]| {
        let command = [&["project", "set", "--project", &project.id], settings].concat();
        service.world.run(&command)
    };
    let hash = ["--app-hash", "FA+9qCX9VSu", "--relay-live", "on", "--whatsapp-providers", "none"];
    assert!(set(&[hash.as_slice(), &["--sms-text", &text(117)]].concat()).status.success());
    // 140 bytes with the six digits of a login code.
    let refused = set(&["--sms-text", &text(121)]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        said.contains("sms_text: ") && said.contains("144 with a code of ten digits"),
        "{said}"
    );

    let world = service.kill();
    let id = world.database.id(&project.id);
    let stored = format!("UPDATE projects SET sms_text = '{}' WHERE id = {id}", text(121));
    world.database.run(&stored).await;
    let report = world.cli(&["doctor"]);
    let mut checks = report["checks"].as_array().into_iter().flatten();
    let told = checks.find(|it| it["name"] == "projects").unwrap();
    assert_eq!(told["status"], "warning");
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.starts_with(&format!("{}: sms_text: ", project.id)), "{detail}");

    let service = Service::start_in(world);
    service.send(&project.live, "9876543210").await.ok();
    let body = json!({ "phone": "9876543211", "code": "0123456789", "expires_in": 3_600 });
    service.post(&project.live, "/v1/otp/relay", body).await.ok();
    let lengths: Vec<_> = vendor.taken().iter().map(|taken| taken.text.len()).collect();
    assert_eq!(lengths, [140, 144]);
}

const SENDS: usize = 1_000;
const CRASHES: usize = 20;

/// A provider that accepts, fails, hangs and lies; a service that is killed twenty times.
async fn a_thousand_sends_through_twenty_crashes(database: Database) {
    // A small generator, so that every run plays the same.
    let state = Mutex::new(0x2545_f491_4f6c_dd1d_u64);
    let draw = move || {
        let mut state = state.lock().unwrap();
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state % 100
    };
    let plays = move |provider: &str, _: &str| match (draw(), provider) {
        (0..50, _) => Play::Deliver,
        (50..65, _) => Play::Accept,
        (65..72, "wa") => Play::FailLater,
        (72..82, _) => Play::NotOnChannel,
        (82..90, _) => Play::Unavailable,
        (90..93, _) => Play::Hang,
        (93..96, _) => Play::TakeAndReset,
        (96..98, _) => Play::TakeAndMumble,
        _ => Play::Deliver,
    };
    let (mut service, vendor) = service_with(database, PATIENT, plays).await;
    let project = service.world.project("10000");
    for crash in 0..CRASHES {
        let sends: Vec<_> = (0..SENDS / CRASHES)
            .map(|_| {
                let body = json!({ "phone": service.world.phone() });
                let send = service.call(&project.live, "/v1/otp/send", &body).send();
                tokio::spawn(async move { send.await.is_ok() })
            })
            .collect();
        // Somewhere between the first hold and the last receipt: after a while, or after a number
        // of answers.
        let mut sends = sends.into_iter();
        if crash % 2 == 0 {
            let millis = 20 + 40 * u64::try_from(crash).unwrap();
            tokio::time::sleep(Duration::from_millis(millis)).await;
        } else {
            for send in sends.by_ref().take(10 + 2 * crash) {
                send.await.unwrap();
            }
        }
        service = Service::start_in(service.kill());
        for send in sends {
            send.await.unwrap();
        }
    }
    let database = &service.world.database;
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        let pending = database.number("SELECT count(*) FROM otps WHERE due_at IS NOT NULL").await
            + database.number("SELECT count(*) FROM wallet_holds").await
            // A receipt that is not applied yet may still cause a refund.
            + database.number("SELECT count(*) FROM receipts WHERE known").await;
        if pending == 0 {
            break;
        }
        assert!(Instant::now() < until, "{pending} are still pending");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    service.world.audit();

    let count = async |sql: &str| database.number(sql).await;
    assert_eq!(count("SELECT count(*) FROM otps WHERE status = 'queued'").await, 0);
    let accepted = "EXISTS (SELECT 1 FROM otp_attempts a WHERE a.otp_id = o.id \
                    AND a.status IN ('sent', 'delivered'))";
    let id = match database {
        Database::Sqlite(_) => "lower(hex(o.id))",
        _ => "replace(CAST(o.id AS text), '-', '')",
    };
    let charged = format!(
        "(SELECT coalesce(sum(l.amount), 0) FROM ledger_entries l \
         WHERE replace(l.reference, '-', '') = {id}) < 0"
    );
    let wrong = format!("SELECT count(*) FROM otps o WHERE ({accepted}) <> ({charged})");
    assert_eq!(count(&wrong).await, 0, "accepted and charged differ");
    let twice = "SELECT count(*) FROM (SELECT reference FROM ledger_entries \
                 WHERE kind = 'capture' GROUP BY reference HAVING count(*) > 1) doubled";
    assert_eq!(count(twice).await, 0, "charged twice");

    let captured = count("SELECT count(*) FROM ledger_entries WHERE kind = 'capture'").await;
    let mut carried: BTreeMap<String, usize> = BTreeMap::new();
    for taken in vendor.taken().into_iter().filter(|taken| taken.play.carries()) {
        *carried.entry(taken.otp).or_default() += 1;
    }
    assert!(captured <= i64::try_from(carried.len()).unwrap(), "charged for what never went out");
    let known_failures = "SELECT count(*) FROM otp_attempts WHERE reason = 'blocked'";
    let twice = carried.values().filter(|times| **times > 1).count();
    let issued = count("SELECT count(*) FROM otps").await;
    // Bypasses the test runner, which hides what a passing test prints.
    let told = writeln!(
        std::io::stderr(),
        "{issued} sends on record, {captured} accepted and charged, {} reached the vendor, {twice} \
         of them twice ({} after a reported failure; the rest possible duplicates)",
        carried.len(),
        count(known_failures).await,
    );
    told.unwrap();
    assert!(captured > 300, "the crashes left nothing to look at");
}
