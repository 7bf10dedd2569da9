//! The whole life of a login, as a customer's back end sees it.

use crate::common::{Database, Service, World, answer};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

on_both_databases! {
    a_login_from_send_to_logout;
    a_live_login_is_charged_once;
    modes_and_projects_are_separate_worlds;
    sandbox_numbers_play_their_parts;
    a_new_code_replaces_the_old_one;
    refresh_replaces_both_tokens;
    a_used_refresh_token_ends_the_session;
    deleting_an_identity_ends_its_sessions_and_traces;
    a_send_is_repeated_by_its_key;
    a_refresh_is_repeated_by_its_key;
}

fn keys(body: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

async fn a_login_from_send_to_logout(database: Database) {
    let service = Service::start(database);
    let key = service.world.project("0").test;
    let phone = service.world.phone();

    let sent = service.send(&key, &phone).await;
    assert_eq!(sent.header("cache-control"), "no-store");
    assert_eq!((sent.header("ratelimit-limit"), sent.header("ratelimit-remaining")), ("20", "19"));
    let sent = sent.ok();
    assert_eq!(keys(&sent), ["channel", "expires_at", "expires_in", "otp_id", "status"]);
    assert_eq!((&sent["status"], &sent["channel"]), (&json!("sent"), &json!("sandbox")));
    assert!(sent["expires_in"].as_i64().is_some_and(|left| (595..=600).contains(&left)));
    assert!(sent["expires_at"].as_str().unwrap().ends_with('Z'));

    let code = service.code(&key, &phone).await;
    let pair = service.verify(&key, &format!("+91{phone}"), &code).await.ok();
    let fields = [
        "access_token",
        "expires_in",
        "identity_id",
        "refresh_expires_in",
        "refresh_token",
        "session_id",
        "token_type",
    ];
    assert_eq!(keys(&pair), fields);
    assert_eq!((&pair["token_type"], &pair["expires_in"]), (&json!("Bearer"), &json!(900)));
    service.verify(&key, &phone, &code).await.refused(400, "OTP_NOT_FOUND");

    let valid = service.validate(&key, &pair["access_token"]).await.ok();
    let fields = ["expires_at", "expires_in", "identity_id", "issued_at", "session_id", "valid"];
    assert_eq!(keys(&valid), fields);
    assert_eq!(valid["valid"], true);
    assert_eq!(valid["session_id"], pair["session_id"]);

    let status = format!("/v1/otp/status/{}", sent["otp_id"].as_str().unwrap());
    let status = eventually(&service, &key, &status, "delivered").await;
    let fields = ["attempts", "channel", "created_at", "expires_at", "otp_id", "status"];
    assert_eq!(keys(&status), fields);
    assert_eq!(keys(&status["attempts"][0]), ["at", "channel", "provider", "reason", "status"]);

    assert_eq!(service.logout(&key, &pair["access_token"]).await.ok(), json!({"revoked": true}));
    let access = service.validate(&key, &pair["access_token"]).await;
    access.refused(401, "INVALID_ACCESS_TOKEN");
    let refresh = service.refresh(&key, &pair["refresh_token"]).await;
    refresh.refused(401, "SESSION_EXPIRED");
    let again = service.logout(&key, &pair["access_token"]).await;
    again.refused(401, "INVALID_ACCESS_TOKEN");
}

/// The status of a request, once it is the expected one.
async fn eventually(service: &Service, key: &str, path: &str, status: &str) -> Value {
    for _ in 0..100 {
        let now = service.get(key, path).await.ok();
        if now["status"] == status {
            return now;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{path} never became {status}");
}

async fn a_live_login_is_charged_once(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("1");
    let phone = service.world.phone();
    let sent = service.send(&project.live, &phone).await.ok();
    assert_eq!(sent["channel"], "whatsapp");
    let code = service.code(&project.live, &phone).await;
    service.verify(&project.live, &phone, &code).await.ok();

    let balance = service.world.balance(&project);
    assert_eq!((&balance["balance_paise"], &balance["held_paise"]), (&json!(80), &json!(0)));
    let verified = service.world.cli(&["wallet", "verify"]);
    assert_eq!(verified["difference_paise"], 0);
    let statement = service.world.cli(&["wallet", "statement", "--project", &project.id]);
    let kinds: Vec<&str> = statement["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|e| e["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["release", "capture", "hold", "credit"]);
    assert!(!statement.to_string().contains(&phone));
}

async fn modes_and_projects_are_separate_worlds(database: Database) {
    let service = Service::start(database);
    let (one, two) = (service.world.project("10"), service.world.project("10"));
    for project in [&one, &two] {
        let id = project.id.as_str();
        let switches = ["--identity-lookup", "on", "--identity-delete", "on"];
        service.world.cli(&[&["project", "set", "--project", id], switches.as_slice()].concat());
    }
    let phone = service.world.phone();
    let sent = service.send(&one.test, &phone).await.ok();
    let code = service.code(&one.test, &phone).await;
    for key in [&one.live, &two.test, &two.live] {
        service.verify(key, &phone, &code).await.refused(400, "OTP_NOT_FOUND");
        let status = format!("/v1/otp/status/{}", sent["otp_id"].as_str().unwrap());
        service.get(key, &status).await.refused(404, "OTP_REQUEST_NOT_FOUND");
    }
    let pair = service.verify(&one.test, &phone, &code).await.ok();
    let identity = format!("/v1/identity/{}", pair["identity_id"].as_str().unwrap());
    for key in [&one.live, &two.test, &two.live] {
        let access = service.validate(key, &pair["access_token"]).await;
        access.refused(401, "INVALID_ACCESS_TOKEN");
        let out = service.logout(key, &pair["access_token"]).await;
        out.refused(401, "INVALID_ACCESS_TOKEN");
        let refresh = service.refresh(key, &pair["refresh_token"]).await;
        refresh.refused(401, "SESSION_EXPIRED");
        service.get(key, &identity).await.refused(404, "IDENTITY_NOT_FOUND");
        service.delete(key, &identity).await.refused(404, "IDENTITY_NOT_FOUND");
        let by_phone = service.get(key, &format!("/v1/identity?phone={phone}")).await;
        by_phone.refused(404, "IDENTITY_NOT_FOUND");
    }
    let inbox = service.get(&two.test, &format!("/v1/sandbox/messages?phone={phone}")).await.ok();
    assert_eq!(inbox["messages"], json!([]));
    service.validate(&one.test, &pair["access_token"]).await.ok();
    let found = service.get(&one.test, &format!("/v1/identity?phone=+91{phone}")).await.ok();
    assert_eq!(keys(&found), ["created_at", "id", "last_verified_at", "phone"]);
    assert_eq!(
        (&found["id"], &found["phone"]),
        (&pair["identity_id"], &json!(format!("+91{phone}")))
    );
}

async fn sandbox_numbers_play_their_parts(database: Database) {
    let service = Service::start(database);
    let key = service.world.project("0").test;
    let attempts = |status: &Value| -> Vec<(String, String, Value)> {
        let attempts = status["attempts"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        attempts.map(|a| (text(&a["channel"]), text(&a["status"]), a["reason"].clone())).collect()
    };
    let attempt = |channel: &str, status: &str, reason: Value| {
        (channel.to_owned(), status.to_owned(), reason)
    };
    let failed = attempt("whatsapp", "failed", json!("not_on_channel"));
    for number in ["9000000001", "9000000003"] {
        let sent = service.send(&key, number).await.ok();
        let path = format!("/v1/otp/status/{}", sent["otp_id"].as_str().unwrap());
        let status = eventually(&service, &key, &path, "delivered").await;
        let expected = vec![failed.clone(), attempt("sms", "delivered", Value::Null)];
        assert_eq!(attempts(&status), expected, "{number}");
        let code = service.code(&key, number).await;
        service.verify(&key, number, &code).await.ok();
    }
    service.send(&key, "9000000002").await.refused(500, "SMS_FAILED");
    service.verify(&key, "9000000002", "123456").await.refused(400, "OTP_NOT_FOUND");
    service.send(&key, "9000000004").await.refused(402, "INSUFFICIENT_BALANCE");

    let sent = service.send(&key, "9000000005").await.ok();
    let path = format!("/v1/otp/status/{}", sent["otp_id"].as_str().unwrap());
    assert_eq!(service.get(&key, &path).await.ok()["status"], "sent");
    eventually(&service, &key, &path, "delivered").await;

    // Neither refusal uses the number's allowance.
    for _ in 0..21 {
        service.send(&key, "9000000002").await.refused(500, "SMS_FAILED");
        service.send(&key, "9000000004").await.refused(402, "INSUFFICIENT_BALANCE");
    }
}

async fn a_new_code_replaces_the_old_one(database: Database) {
    let service = Service::start(database);
    let key = service.world.project("0").test;
    let phone = service.world.phone();
    service.send(&key, &phone).await.ok();
    let old = service.code(&key, &phone).await;
    let mut new = old.clone();
    while new == old {
        service.send(&key, &phone).await.ok();
        new = service.code(&key, &phone).await;
    }
    service.verify(&key, &phone, &old).await.refused(400, "INVALID_OTP");
    service.verify(&key, &phone, &new).await.ok();
}

async fn refresh_replaces_both_tokens(database: Database) {
    let service = Service::start(database);
    let key = service.world.project("0").test;
    let first = service.log_in(&key, &service.world.phone()).await;
    let second = service.refresh(&key, &first["refresh_token"]).await.ok();
    assert_eq!(second["session_id"], first["session_id"]);
    let old = service.validate(&key, &first["access_token"]).await;
    old.refused(401, "INVALID_ACCESS_TOKEN");
    service.validate(&key, &second["access_token"]).await.ok();
    // Within the leeway: two tabs at once.
    service.refresh(&key, &first["refresh_token"]).await.refused(401, "SESSION_EXPIRED");
    service.validate(&key, &second["access_token"]).await.ok();
    // Three tabs: exchanged twice since, and still within the leeway.
    let third = service.refresh(&key, &second["refresh_token"]).await.ok();
    service.refresh(&key, &first["refresh_token"]).await.refused(401, "SESSION_EXPIRED");
    service.validate(&key, &third["access_token"]).await.ok();
    service.refresh(&key, &third["refresh_token"]).await.ok();
}

async fn a_used_refresh_token_ends_the_session(database: Database) {
    let world = World::new(database).with("DWAR__SESSION__LEEWAY_SECONDS", "0");
    let service = Service::start_in(world);
    let project = service.world.project("0");
    let key = project.test;
    for later in 1..=3 {
        let first = service.log_in(&key, &service.world.phone()).await;
        let mut last = first.clone();
        for _ in 0..later {
            last = service.refresh(&key, &last["refresh_token"]).await.ok();
        }
        // A token of another mode, or with a changed digit, proves nothing and ends nothing.
        service
            .refresh(&project.live, &first["refresh_token"])
            .await
            .refused(401, "SESSION_EXPIRED");
        let mut forged = first["refresh_token"].as_str().unwrap().to_owned();
        let digit = if forged.ends_with('0') { "1" } else { "0" };
        forged.replace_range(forged.len() - 1.., digit);
        service.refresh(&key, &json!(forged)).await.refused(401, "SESSION_EXPIRED");
        service.validate(&key, &last["access_token"]).await.ok();

        tokio::time::sleep(Duration::from_millis(5)).await;
        service.refresh(&key, &first["refresh_token"]).await.refused(401, "SESSION_EXPIRED");
        let dead = service.validate(&key, &last["access_token"]).await;
        dead.refused(401, "INVALID_ACCESS_TOKEN");
        service.refresh(&key, &last["refresh_token"]).await.refused(401, "SESSION_EXPIRED");
    }
}

async fn deleting_an_identity_ends_its_sessions_and_traces(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let key = project.test.as_str();
    let id = project.id.as_str();
    service.world.cli(&["project", "set", "--project", id, "--identity-delete", "on"]);
    let phone = service.world.phone();
    let one = service.log_in(key, &phone).await;
    let two = service.log_in(key, &phone).await;
    assert_eq!(one["identity_id"], two["identity_id"]);
    let identity = one["identity_id"].as_str().unwrap();
    let path = format!("/v1/identity/{identity}");
    let gone = service.delete(key, &path).await.ok();
    assert_eq!(gone, json!({"id": identity, "deleted": true, "sessions_revoked": 2}));
    service.delete(key, &path).await.refused(404, "IDENTITY_NOT_FOUND");
    for pair in [&one, &two] {
        let access = service.validate(key, &pair["access_token"]).await;
        access.refused(401, "INVALID_ACCESS_TOKEN");
        let refresh = service.refresh(key, &pair["refresh_token"]).await;
        refresh.refused(401, "SESSION_EXPIRED");
    }
    let inbox = service.get(key, &format!("/v1/sandbox/messages?phone={phone}")).await.ok();
    assert_eq!(inbox["messages"], json!([]));
    // The limit does not reset: two sends were counted.
    let sent = service.send(key, &phone).await;
    assert_eq!(sent.header("ratelimit-remaining"), "17");
    let code = service.code(key, &phone).await;
    let back = service.verify(key, &phone, &code).await.ok();
    assert_ne!(back["identity_id"], one["identity_id"]);
}

async fn a_send_is_repeated_by_its_key(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("10");
    let send = |key: &str, phone: &str| {
        let request = service.request(Method::POST, "/v1/otp/send").header("X-Api-Key", key);
        answer(request.header("Idempotency-Key", "a-1").json(&json!({ "phone": phone })))
    };
    let phone = service.world.phone();
    let first = send(&project.live, &phone).await;
    assert_eq!(first.header("idempotent-replayed"), "");
    let again = send(&project.live, &phone).await;
    assert_eq!(again.header("idempotent-replayed"), "true");
    assert_eq!(again.text, first.text);
    assert_eq!(service.world.balance(&project)["balance_paise"], 980);
    send(&project.live, &service.world.phone()).await.refused(422, "IDEMPOTENCY_KEY_REUSED");
    // The other mode is separate.
    assert_eq!(send(&project.test, &phone).await.header("idempotent-replayed"), "");

    let failed = send(&service.world.project("0").test, "9000000002").await;
    failed.refused(500, "SMS_FAILED");
}

async fn a_refresh_is_repeated_by_its_key(database: Database) {
    let service = Service::start(database);
    let key = service.world.project("0").test;
    let first = service.log_in(&key, &service.world.phone()).await;
    let refresh = |idempotency: &str| {
        let request = service.request(Method::POST, "/v1/session/refresh");
        let request = request.header("X-Api-Key", &key).header("Idempotency-Key", idempotency);
        answer(request.json(&json!({ "refresh_token": first["refresh_token"] })))
    };
    let second = refresh("r-1").await.ok();
    let again = refresh("r-1").await.ok();
    assert_eq!(again["access_token"], second["access_token"]);
    assert_eq!(again["refresh_token"], second["refresh_token"]);
    refresh("r-2").await.refused(401, "SESSION_EXPIRED");
    service.validate(&key, &second["access_token"]).await.ok();
}
