//! Provokes every row of the table of codes (docs/errors.md) over HTTP.

use crate::common::{Answer, Database, Play, Service, Vendor, World, answer};
use reqwest::Method;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

on_both_databases! {
    every_code_of_the_table;
    every_code_of_ours;
    a_repetition_meets_the_first_request_running;
}

const NOWHERE: &str = "0199a000-0000-7000-8000-000000000000";

fn wrong(code: &str) -> &'static str {
    if code == "000000" { "000001" } else { "000000" }
}

async fn every_code_of_the_table(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("100");
    let (live, test) = (project.live.as_str(), project.test.as_str());
    let world = &service.world;
    let mut seen: Vec<(String, u16)> = Vec::new();
    let mut expect = |answer: Answer, status: u16, code: &str| {
        answer.refused(status, code);
        seen.push((code.to_owned(), status));
    };

    let bare = service.request(Method::GET, &format!("/v1/otp/status/{NOWHERE}"));
    expect(answer(bare).await, 401, "MISSING_API_KEY");
    expect(service.send("svc_live_nobody", &world.phone()).await, 401, "INVALID_API_KEY");
    expect(service.send(live, "5876543210").await, 422, "INVALID_PHONE");
    expect(service.verify(live, &world.phone(), "12345").await, 422, "INVALID_OTP_CODE");
    let none = json!({});
    let validate = service.post(live, "/v1/session/validate", none.clone()).await;
    expect(validate, 422, "MISSING_ACCESS_TOKEN");
    let refresh = service.post(live, "/v1/session/refresh", none).await;
    expect(refresh, 422, "MISSING_REFRESH_TOKEN");

    let phone = world.phone();
    for _ in 0..3 {
        service.send(live, &phone).await.ok();
    }
    let limited = service.send(live, &phone).await;
    assert!(limited.header("retry-after").parse::<u32>().unwrap() >= 1);
    expect(limited, 429, "OTP_RATE_LIMITED");

    let phone = world.phone();
    expect(service.verify(live, &phone, "123456").await, 400, "OTP_NOT_FOUND");
    service.send(live, &phone).await.ok();
    let code = service.code(live, &phone).await;
    for _ in 0..5 {
        expect(service.verify(live, &phone, wrong(&code)).await, 400, "INVALID_OTP");
    }
    let locked = service.verify(live, &phone, &code).await;
    assert!(locked.header("retry-after").parse::<u32>().unwrap() >= 1);
    expect(locked, 429, "VERIFY_RATE_LIMITED");

    expect(service.send(test, "9000000002").await, 500, "SMS_FAILED");
    let status = service.get(live, &format!("/v1/otp/status/{NOWHERE}")).await;
    expect(status, 404, "OTP_REQUEST_NOT_FOUND");
    let poor = world.project("0");
    expect(service.send(&poor.live, &world.phone()).await, 402, "INSUFFICIENT_BALANCE");
    let token = json!("svc_rt_nothing");
    expect(service.refresh(live, &token).await, 401, "SESSION_EXPIRED");
    expect(service.logout(live, &json!("a.b.c")).await, 401, "INVALID_ACCESS_TOKEN");

    let other = world.project("0");
    let mut last = service.get(&other.test, &format!("/v1/otp/status/{NOWHERE}")).await;
    for _ in 0..100 {
        last = service.get(&other.test, &format!("/v1/otp/status/{NOWHERE}")).await;
    }
    assert!(last.header("retry-after").parse::<u32>().unwrap() >= 1);
    expect(last, 429, "RATE_LIMITED");

    let path = format!("/v1/identity/{NOWHERE}");
    expect(service.delete(live, &path).await, 403, "IDENTITY_DELETE_DISABLED");
    let id = project.id.as_str();
    world.cli(&["project", "set", "--project", id, "--identity-lookup", "on"]);
    expect(service.get(live, &path).await, 404, "IDENTITY_NOT_FOUND");

    seen.sort();
    seen.dedup();
    assert_eq!(seen, specified());
}

fn specified() -> Vec<(String, u16)> {
    let mut table = [
        ("MISSING_API_KEY", 401),
        ("INVALID_API_KEY", 401),
        ("INVALID_PHONE", 422),
        ("INVALID_OTP_CODE", 422),
        ("MISSING_ACCESS_TOKEN", 422),
        ("MISSING_REFRESH_TOKEN", 422),
        ("OTP_RATE_LIMITED", 429),
        ("OTP_NOT_FOUND", 400),
        ("INVALID_OTP", 400),
        ("VERIFY_RATE_LIMITED", 429),
        ("SMS_FAILED", 500),
        ("OTP_REQUEST_NOT_FOUND", 404),
        ("INSUFFICIENT_BALANCE", 402),
        ("SESSION_EXPIRED", 401),
        ("INVALID_ACCESS_TOKEN", 401),
        ("RATE_LIMITED", 429),
        ("IDENTITY_DELETE_DISABLED", 403),
        ("IDENTITY_NOT_FOUND", 404),
    ]
    .map(|(code, status)| (code.to_owned(), status));
    table.sort();
    table.to_vec()
}

async fn every_code_of_ours(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("100");
    let (live, test) = (project.live.as_str(), project.test.as_str());
    let send = |body: &'static str| {
        service.request(Method::POST, "/v1/otp/send").header("X-Api-Key", live).body(body)
    };
    let json_type = ("Content-Type", "application/json");

    for body in ["", "[]", "\"text\"", "{", "{\"phone\":\"9876543210\"} x", "nul"] {
        let refused = answer(send(body).header(json_type.0, json_type.1)).await;
        match body {
            "" => refused.refused(422, "INVALID_PHONE"),
            _ => refused.refused(400, "INVALID_REQUEST"),
        }
    }
    let latin = service.request(Method::POST, "/v1/otp/send").header("X-Api-Key", live);
    let latin = latin.header(json_type.0, json_type.1).body(b"{\"phone\":\"\xff\"}".to_vec());
    answer(latin).await.refused(400, "INVALID_REQUEST");

    service.get(live, "/v1/nothing").await.refused(404, "NOT_FOUND");
    answer(service.request(Method::GET, "/v1/nothing")).await.refused(401, "MISSING_API_KEY");
    answer(service.request(Method::GET, "/nothing")).await.refused(404, "NOT_FOUND");
    service.get(live, "/v1/sandbox/messages?phone=9876543210").await.refused(404, "NOT_FOUND");
    let wrong_method = service.get(live, "/v1/otp/send").await;
    assert_eq!(wrong_method.header("allow"), "POST");
    wrong_method.refused(405, "METHOD_NOT_ALLOWED");

    let large = format!("{{\"phone\":\"9876543210\",\"x\":\"{}\"}}", "x".repeat(17 * 1024));
    let request = service.request(Method::POST, "/v1/otp/send").header("X-Api-Key", live);
    let request = request.header(json_type.0, json_type.1).body(large);
    answer(request).await.refused(413, "PAYLOAD_TOO_LARGE");
    let form = send("phone=9876543210").header("Content-Type", "application/x-www-form-urlencoded");
    answer(form).await.refused(415, "UNSUPPORTED_MEDIA_TYPE");

    let by_phone = service.get(test, "/v1/identity?phone=9876543210").await;
    by_phone.refused(403, "IDENTITY_LOOKUP_DISABLED");

    let with_key = |phone: &str| {
        let request = service.request(Method::POST, "/v1/otp/send").header("X-Api-Key", test);
        request.header("Idempotency-Key", "order-1").json(&json!({ "phone": phone }))
    };
    answer(with_key("9876543210")).await.ok();
    answer(with_key("9876543211")).await.refused(422, "IDEMPOTENCY_KEY_REUSED");

    service.get(live, "/v1/events?limit=0").await.refused(422, "INVALID_FIELD");
    service.get(live, "/v1/events").await.refused(403, "EVENTS_FEED_DISABLED");
    let feed = |on| ["project", "set", "--project", &project.id, "--events-feed", on];
    service.world.cli(&feed("on"));
    let page = service.get(live, "/v1/events").await.ok();
    let again = format!("/v1/events?after={}", page["cursor"].as_str().unwrap());
    service.world.cli(&feed("off"));
    service.world.cli(&feed("on"));
    service.get(live, &again).await.refused(410, "CURSOR_EXPIRED");
    let page = service.get(live, "/v1/events").await.ok();
    let again = format!("/v1/events?after={}", page["cursor"].as_str().unwrap());
    service.world.database.run("UPDATE feed_life SET name = 'another'").await;
    service.get(live, &again).await.refused(409, "CURSOR_INVALIDATED");

    let webhook = answer(service.request(Method::POST, "/webhooks/nobody")).await;
    webhook.refused(404, "NOT_FOUND");
    service.world.database.lose("guess_budgets").await;
    service.send(live, &service.world.phone()).await.refused(500, "INTERNAL_ERROR");
}

/// A slow provider lets a second request arrive while the first one is running.
async fn a_repetition_meets_the_first_request_running(database: Database) {
    let vendor = Vendor::start(0, |_, _| Play::Hang).await;
    let world = World::new(database).with("DWAR__GATEWAYS__CALL_TIMEOUT_MS", "3000");
    let service = Arc::new(Service::start_in(vendor.carry(world)));
    let project = service.world.project("10");
    let phone = service.world.phone();
    let send = |key: &'static str| {
        let body = json!({ "phone": phone });
        let request = service.request(Method::POST, "/v1/otp/send").json(&body);
        answer(request.header("X-Api-Key", &project.live).header("Idempotency-Key", key))
    };
    let first = tokio::spawn(send("order-1"));
    while vendor.taken().is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    send("order-1").await.refused(409, "IDEMPOTENCY_CONFLICT");
    first.await.unwrap().refused(500, "SMS_FAILED");
    let again = send("order-1").await;
    assert_eq!(again.header("idempotent-replayed"), "true");
    again.refused(500, "SMS_FAILED");

    let (path, receipt) = ("/webhooks/wa?token=guess", json!({ "reference": "x" }));
    let forged = answer(service.request(Method::POST, path).json(&receipt)).await;
    forged.refused(401, "WEBHOOK_UNAUTHENTICATED");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs DWAR_TEST_POSTGRES_URL"]
async fn a_database_out_of_reach_is_unavailable_and_never_valid() {
    let service = Service::start(Database::postgres().await);
    let project = service.world.project("100");
    let pair = service.log_in(&project.test, "9876543210").await;
    service.world.database.shut().await;
    service
        .validate(&project.test, &pair["access_token"])
        .await
        .refused(503, "SERVICE_UNAVAILABLE");
    let send = service.send(&project.test, "9876543210").await;
    assert!(send.header("retry-after").parse::<u32>().unwrap() >= 1);
    send.refused(503, "SERVICE_UNAVAILABLE");
    let ready = answer(service.request(Method::GET, "/readyz")).await;
    assert_eq!(ready.status.as_u16(), 503);
    let alive = answer(service.request(Method::GET, "/healthz")).await;
    assert_eq!(alive.status.as_u16(), 200);
    service.world.database.reopen().await;
    service.validate(&project.test, &pair["access_token"]).await.ok();
}
