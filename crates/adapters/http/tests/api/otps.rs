use crate::ports::Ports;
use crate::support::{Reply, TestApp};
use actix_web::http::Method;
use dwar_kernel::{KeyMode, StoreError};
use dwar_login::{Prepared, Redeemed};
use dwar_otp::{Allowance, GuessVerdict, Outcome, Reason};
use dwar_ratelimit::{Admission, SendAdmission, SendBound, SendLog};
use dwar_testkit::{minutes, seconds};
use dwar_wallet::HoldOutcome;
use insta::assert_snapshot;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

const SEND: &str = "/v1/otp/send";
const VERIFY: &str = "/v1/otp/verify";
const PHONE: &str = r#"{"phone":"+919876543210"}"#;
const GUESS: &str = r#"{"phone":"9876543210","code":"123456"}"#;
const ACCEPTED: &[Outcome] = &[Outcome::Accepted { provider_ref: None, awaits_receipt: false }];
const REFUSED: &[Outcome] = &[Outcome::Refused(Reason::NotOnChannel)];

fn sending(outcomes: &'static [Outcome]) -> TestApp {
    TestApp::with(|ports| ports.send_through(outcomes))
}

fn members(body: &str) -> Vec<String> {
    let body: Value = serde_json::from_str(body).unwrap();
    // Sorted, because the order of the map varies.
    body.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

#[actix_web::test]
async fn send_answers_as_decided() {
    let reply = sending(ACCEPTED).post(SEND, PHONE).await;
    assert_snapshot!(reply.text(), @r#"
        200
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 3
        ratelimit-remaining: 2
        ratelimit-reset: 600
        x-content-type-options: nosniff
        x-request-id: request-1

        {"otp_id":"01a3185c-507b-7d12-9b6e-30be56a3f06d","status":"sent","channel":"whatsapp","expires_at":"2027-01-15T08:10:00.123Z","expires_in":600}
        "#);
    let members = members(&reply.body);
    assert_eq!(members, ["channel", "expires_at", "expires_in", "otp_id", "status"]);
}

#[actix_web::test]
async fn a_test_key_sends_into_the_sandbox() {
    let reply = sending(ACCEPTED).post_in_test_mode(SEND, PHONE).await;
    let body: Value = serde_json::from_str(&reply.body).unwrap();
    assert_eq!(body["channel"], "sandbox");
    assert_eq!(reply.header("ratelimit-limit"), Some("20"));
}

#[actix_web::test]
async fn send_refuses_as_specified() {
    let failed = sending(REFUSED).post(SEND, PHONE).await;
    assert_eq!((failed.status, failed.code().as_str()), (500, "SMS_FAILED"));
    // The phone's allowance was not used.
    assert_eq!(failed.header("ratelimit-remaining"), Some("3"));
    for (held, code) in [
        (HoldOutcome::Insufficient, "INSUFFICIENT_BALANCE"),
        (HoldOutcome::SpendLimited, "SPEND_LIMIT_REACHED"),
    ] {
        let poor = TestApp::with(|ports| {
            ports
                .logins
                .expect_prepare()
                .returning(move |send, now| send.judge(&mut SendLog::default(), |_| Ok(held), now));
        });
        let poor = poor.post(SEND, PHONE).await;
        assert_eq!((poor.status, poor.code().as_str()), (402, code));
        assert_eq!(poor.header("ratelimit-remaining"), Some("3"));
    }
    let often = TestApp::with(|ports| {
        ports.logins.expect_prepare().returning(|_, _| {
            let reset = Duration::from_millis(597_001);
            let counted = Admission { admitted: false, limit: 3, remaining: 0, reset };
            Ok(Prepared::Limited(SendAdmission::refused(SendBound::Limit, counted)))
        });
    });
    assert_snapshot!(often.post(SEND, PHONE).await.text(), @r#"
        429
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 3
        ratelimit-remaining: 0
        ratelimit-reset: 598
        retry-after: 598
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"Too many codes were requested for this phone number.","code":"OTP_RATE_LIMITED","request_id":"request-1"}
        "#);
}

async fn send_with_key(app: &TestApp, key: &str, body: &str) -> Reply {
    let request = app.request(Method::POST, SEND).insert_header(("Idempotency-Key", key));
    app.send(request.set_payload(body.to_owned())).await
}

#[actix_web::test]
async fn the_same_key_and_body_get_the_first_answer_again() {
    let app = sending(ACCEPTED);
    let first = send_with_key(&app, "k", PHONE).await;
    assert_eq!((first.status, first.header("idempotent-replayed")), (200, None));
    let again = send_with_key(&app, "k", r#"{"phone":"9876543210"}"#).await;
    assert_eq!((again.status, again.header("idempotent-replayed")), (200, Some("true")));
    assert_eq!(again.body, first.body);
    let other = send_with_key(&app, "k", r#"{"phone":"9876543211"}"#).await;
    assert_eq!((other.status, other.code().as_str()), (422, "IDEMPOTENCY_KEY_REUSED"));
    let another = send_with_key(&app, "k2", PHONE).await;
    assert_ne!(another.body, first.body);
}

#[actix_web::test]
async fn a_definite_failure_is_replayed_under_the_present_request_id() {
    let app = sending(REFUSED);
    assert_eq!(send_with_key(&app, "k", PHONE).await.header("idempotent-replayed"), None);
    let request = app.request(Method::POST, SEND).insert_header(("Idempotency-Key", "k"));
    let again = request.insert_header(("X-Request-Id", "another")).set_payload(PHONE);
    assert_snapshot!(app.send(again).await.text(), @r#"
        500
        cache-control: no-store
        content-type: application/json
        idempotent-replayed: true
        x-content-type-options: nosniff
        x-request-id: another

        {"error":"The code could not be delivered over any channel. Nothing was charged.","code":"SMS_FAILED","request_id":"another"}
        "#);
}

#[actix_web::test]
async fn any_other_refusal_frees_the_key() {
    let app = TestApp::with(|ports: &mut Ports| {
        let down = || StoreError::Unavailable("down".to_owned());
        ports.logins.expect_prepare().times(1).returning(move |_, _| Err(down()));
        ports.send_through(ACCEPTED);
    });
    assert_eq!(send_with_key(&app, "k", PHONE).await.code(), "SERVICE_UNAVAILABLE");
    let retry = send_with_key(&app, "k", PHONE).await;
    assert_eq!((retry.status, retry.header("idempotent-replayed")), (200, None));
}

#[actix_web::test]
async fn while_the_first_is_unfinished_the_key_is_taken() {
    let app = TestApp::with(|ports| {
        ports.logins.expect_prepare().returning(|_, _| panic!("a bug in the middle"));
    });
    assert_eq!(send_with_key(&app, "k", PHONE).await.code(), "INTERNAL_ERROR");
    let again = send_with_key(&app, "k", PHONE).await;
    assert_eq!((again.status, again.code().as_str()), (409, "IDEMPOTENCY_CONFLICT"));
    assert_eq!(again.header("idempotent-replayed"), None);
}

#[actix_web::test]
async fn a_malformed_idempotency_key_is_an_invalid_request() {
    let app = sending(ACCEPTED);
    for key in ["", "a b", &"k".repeat(256)] {
        assert_eq!(send_with_key(&app, key, PHONE).await.code(), "INVALID_REQUEST", "{key}");
    }
    let twice = app.request(Method::POST, SEND).insert_header(("Idempotency-Key", "k"));
    let twice = twice.append_header(("Idempotency-Key", "k")).set_payload(PHONE);
    assert_eq!(app.send(twice).await.code(), "INVALID_REQUEST");
}

fn judging(verdict: GuessVerdict) -> TestApp {
    TestApp::with(|ports| {
        ports.logins.expect_redeem().returning(move |redemption, _| {
            Ok(Redeemed::of(verdict, redemption.session().map(|it| it.identity), None))
        });
        ports.sign_anything();
    })
}

const fn left(remaining: u32) -> Allowance {
    Allowance { limit: 5, remaining, reset: seconds(599) }
}

#[actix_web::test]
async fn verify_answers_as_decided() {
    let reply = judging(GuessVerdict::Accepted(left(4))).post(VERIFY, GUESS).await;
    assert_snapshot!(reply.text(), @r#"
        200
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 5
        ratelimit-remaining: 4
        ratelimit-reset: 599
        x-content-type-options: nosniff
        x-request-id: request-1

        {"access_token":"access-token","refresh_token":"svc_rt_01a3185c507b745984751a0f4a2a0e5800000000649ff0522051bb19ea95ba6b41e7acc776c91a3b782b29572a06b24ddb980cf5a357482cba8fd9a1c24bd9ac426ab18f","token_type":"Bearer","expires_in":900,"refresh_expires_in":2592000,"session_id":"01a3185c-507b-7459-8475-1a0f4a2a0e58","identity_id":"01a3185c-507b-7d12-9b6e-30be56a3f06d"}
        "#);
}

#[actix_web::test]
async fn verify_refuses_as_specified() {
    let wrong = judging(GuessVerdict::Wrong(left(3))).post(VERIFY, GUESS).await;
    assert_eq!((wrong.status, wrong.code().as_str()), (400, "INVALID_OTP"));
    assert_eq!(wrong.header("ratelimit-remaining"), Some("3"));
    assert_eq!(wrong.header("retry-after"), None);
    let locked = judging(GuessVerdict::Locked(left(0))).post(VERIFY, GUESS).await;
    assert_snapshot!(locked.text(), @r#"
        429
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 5
        ratelimit-remaining: 0
        ratelimit-reset: 599
        retry-after: 599
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"Too many incorrect attempts; request a new code.","code":"VERIFY_RATE_LIMITED","request_id":"request-1"}
        "#);
    let absent = judging(GuessVerdict::NotFound).post(VERIFY, GUESS).await;
    assert_eq!((absent.status, absent.code().as_str()), (400, "OTP_NOT_FOUND"));
    assert_eq!(absent.header("ratelimit-limit"), None);
}

#[actix_web::test]
async fn verify_judges_the_code_for_the_request_it_names() {
    const ID: &str = "01920000-0000-7000-8000-000000000000";
    // A store without a request of this id, in which a guess without an id is judged wrong.
    let app = TestApp::with(|ports| {
        ports.sign_anything();
        ports.logins.expect_redeem().returning(|redemption, _| {
            let other = "01920000-0000-7000-8000-000000000001".parse().unwrap();
            let named = !redemption.guess.is_meant_for(other);
            assert!(redemption.guess.is_meant_for(ID.parse().unwrap()));
            Ok(if named { Redeemed::NotFound } else { Redeemed::Wrong(left(3)) })
        });
    });
    let verify = async |id: &str| {
        let body = format!(r#"{{"phone":"9876543210","code":"123456","otp_id":{id}}}"#);
        app.post(VERIFY, &body).await
    };
    let named = verify(&format!("\"{ID}\"")).await;
    assert_eq!((named.status, named.code().as_str()), (400, "OTP_NOT_FOUND"));
    assert_eq!(verify("null").await.code(), "INVALID_OTP");
    assert_eq!(app.post(VERIFY, GUESS).await.code(), "INVALID_OTP");
    // Phone and code come first in the order of checks.
    let body = r#"{"phone":"9876543210","code":"1","otp_id":"x"}"#;
    assert_eq!(app.post(VERIFY, body).await.code(), "INVALID_OTP_CODE");
}

#[actix_web::test]
async fn an_otp_id_that_cannot_be_read_reaches_no_store() {
    let app = TestApp::with(|_| {});
    let bare = "01920000000070008000000000000000";
    for id in ["\"\"", "\"x\"", &format!("\"{bare}\""), "7", "true", "[]", "{}", "1.5"] {
        let body = format!(r#"{{"phone":"9876543210","code":"123456","otp_id":{id}}}"#);
        let reply = app.post(VERIFY, &body).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "OTP_NOT_FOUND"), "{id}");
    }
}

fn stored(mode: KeyMode) -> TestApp {
    TestApp::with(|ports| {
        let line = ports.fixtures.line(ports.project.id.in_mode(mode));
        let mut otp = ports.fixtures.otp(&line);
        let route = ports.fixtures.route();
        let (first, now) = (otp.delivery.attempts[0].id, otp.created_at + minutes(1));
        let refused = dwar_otp::Report::Failed(Reason::NotOnChannel);
        otp.report(first, refused, &route, ports.fixtures.id(), now);
        ports.otps.expect_find().returning(move |_, _| Ok(Some(otp.clone())));
    })
}

const STATUS: &str = "/v1/otp/status/01920000-0000-7000-8000-000000000000";

#[actix_web::test]
async fn status_tells_the_attempts() {
    assert_snapshot!(stored(KeyMode::Live).get(STATUS).await.body, @r#"{"otp_id":"01a3185c-507b-7836-b25e-7adadfc12fbc","status":"queued","channel":"sms","created_at":"2027-01-15T08:00:00.123Z","expires_at":"2027-01-15T08:10:00.123Z","attempts":[{"channel":"whatsapp","provider":"meta","status":"failed","reason":"not_on_channel","at":"2027-01-15T08:01:00.123Z"},{"channel":"sms","provider":"msg91","status":"queued","reason":null,"at":"2027-01-15T08:01:00.123Z"}]}"#);
    let test = stored(KeyMode::Test).get_in_test_mode(STATUS).await;
    let body: Value = serde_json::from_str(&test.body).unwrap();
    assert_eq!(body["channel"], "sandbox");
    assert_eq!(body["attempts"][0]["channel"], "whatsapp");
}

#[actix_web::test]
async fn an_unknown_or_malformed_id_is_not_found() {
    let app = TestApp::with(|ports| {
        ports.otps.expect_find().returning(|_, _| Ok(None));
    });
    for path in [STATUS, "/v1/otp/status/1", "/v1/otp/status/{01920000-0000-7000-8000-0}"] {
        let reply = app.get(path).await;
        assert_eq!((reply.status, reply.code().as_str()), (404, "OTP_REQUEST_NOT_FOUND"));
    }
}
