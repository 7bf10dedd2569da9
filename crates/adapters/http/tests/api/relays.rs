//! Relayed codes: their limits and charges, and that nobody can log in with one.

use crate::provoked::{PHONE, Whole};
use crate::support::Reply;
use actix_web::http::Method;
use serde_json::{Value, json};

const RELAY: &str = "/v1/otp/relay";

fn body(code: &str, expires_in: u64) -> Value {
    json!({ "phone": PHONE, "code": code, "expires_in": expires_in })
}

impl Whole {
    async fn relay(&self, body: &Value) -> Reply {
        self.app.post(RELAY, &body.to_string()).await
    }

    async fn relay_as(&self, key: &str, body: &Value) -> Reply {
        let request = self.app.request(Method::POST, RELAY);
        let request = request.insert_header(("Idempotency-Key", key));
        self.app.send(request.set_payload(body.to_string())).await
    }
}

fn members(reply: &Reply) -> Value {
    serde_json::from_str(&reply.body).unwrap()
}

#[actix_web::test]
async fn the_code_goes_out_as_it_was_given_and_its_minutes_are_named() {
    for (code, expires_in, minutes) in [
        ("0042", 60, "for 1 min."),
        ("123456", 600, "for 10 min."),
        ("9876543210", 3_600, "for 60 min."),
    ] {
        let whole = Whole::open().await;
        let reply = whole.relay(&body(code, expires_in)).await;
        assert_eq!((reply.status, members(&reply)["expires_in"].as_u64()), (200, Some(expires_in)));
        let sent = whole.postbox.messages().pop().unwrap();
        assert_eq!(sent.code.expose(), code);
        assert!(sent.text.contains(code) && sent.text.contains(minutes), "{}", sent.text);
        let status = format!("/v1/otp/status/{}", members(&reply)["otp_id"].as_str().unwrap());
        assert_eq!(members(&whole.app.get(&status).await)["status"], "sent");
    }
}

#[actix_web::test]
async fn what_is_wrong_with_a_field_is_said() {
    let whole = Whole::open().await;
    let code = "code: a code is 4 to 10 digits.";
    let expires_in = "expires_in: a whole number of seconds from 60 to 3600.";
    for (field, value, said) in [
        ("code", json!("123"), code),
        ("code", json!("12345678901"), code),
        ("code", json!("12 34"), code),
        ("code", json!(1234), code),
        ("code", json!(null), code),
        ("expires_in", json!(59), expires_in),
        ("expires_in", json!(3_601), expires_in),
        ("expires_in", json!(60.5), expires_in),
        ("expires_in", json!(-60), expires_in),
        ("expires_in", json!(1e300), expires_in),
        ("expires_in", json!("600"), expires_in),
        ("expires_in", json!(null), expires_in),
        ("expires_in", json!([600]), expires_in),
    ] {
        let mut asked = body("4829", 600);
        asked[field] = value;
        let reply = whole.relay(&asked).await;
        assert_eq!((reply.status, reply.code()), (422, "INVALID_FIELD".to_owned()), "{asked}");
        assert_eq!(members(&reply)["error"], said, "{asked}");
    }
    let reply = whole.relay(&json!({ "code": "x", "expires_in": 1 })).await;
    assert_eq!(reply.code(), "INVALID_PHONE", "the phone is looked at first");
    assert!(whole.postbox.messages().is_empty());
    assert_eq!(whole.relay(&body("4829", 60)).await.status, 200);
    let written_out = body("4829", 0).to_string().replace(":0", ":600.0");
    assert_eq!(whole.app.post(RELAY, &written_out).await.status, 200);
}

#[actix_web::test]
async fn it_is_switched_on_for_each_mode() {
    let whole = Whole::open().await;
    let asked = body("4829", 600).to_string();
    assert_eq!(whole.app.post(RELAY, &asked).await.status, 200);
    let reply = whole.app.post_in_test_mode(RELAY, &asked).await;
    assert_eq!((reply.status, reply.code()), (403, "RELAY_DISABLED".to_owned()));
}

#[actix_web::test]
async fn with_a_key_the_first_answer_is_given_again_to_the_very_same_request_alone() {
    let whole = Whole::open().await;
    let first = whole.relay_as("k", &body("4829", 600)).await;
    let again = whole.relay_as("k", &body("4829", 600)).await;
    assert_eq!((again.status, &again.body), (200, &first.body));
    assert_eq!(again.header("idempotent-replayed"), Some("true"));
    for other in [body("4828", 600), body("4829", 601)] {
        assert_eq!(whole.relay_as("k", &other).await.code(), "IDEMPOTENCY_KEY_REUSED");
    }
    assert_eq!(whole.postbox.messages().len(), 1);
    let of_send = whole.sends_again("sendOtp", PHONE).await;
    assert_eq!(of_send.status, 200, "a key of another endpoint is another key");
}

fn named(reference: &Value) -> Value {
    let mut asked = body("4829", 600);
    asked["reference"] = reference.clone();
    asked
}

/// Header and body name the same key: a name in one is known in the other.
#[actix_web::test]
async fn a_reference_in_the_body_does_what_the_header_does() {
    let whole = Whole::open().await;
    let long = "x".repeat(128);
    for reference in ["k", long.as_str()] {
        let first = whole.relay(&named(&json!(reference))).await;
        assert_eq!((first.status, first.header("idempotent-replayed")), (200, None));
        let plain = body("4829", 600);
        for again in [
            whole.relay(&named(&json!(reference))).await,
            whole.relay_as(reference, &plain).await,
            whole.relay_as(reference, &named(&json!(reference))).await,
        ] {
            assert_eq!((again.status, &again.body), (200, &first.body));
            assert_eq!(again.header("idempotent-replayed"), Some("true"));
        }
        let mut other = named(&json!(reference));
        other["code"] = json!("4828");
        assert_eq!(whole.relay(&other).await.code(), "IDEMPOTENCY_KEY_REUSED");
    }
    assert_eq!(whole.postbox.messages().len(), 2);
    assert_eq!(whole.relay(&named(&Value::Null)).await.header("idempotent-replayed"), None);
}

#[actix_web::test]
async fn what_is_wrong_with_a_reference_is_said() {
    let whole = Whole::open().await;
    let shape = "reference: a reference is 1 to 128 visible ASCII characters.";
    for reference in [
        json!(""),
        json!("a b"),
        json!("\u{0915}"),
        json!("x".repeat(129)),
        json!(1),
        json!(true),
        json!(["k"]),
        json!({ "k": 1 }),
    ] {
        let reply = whole.relay(&named(&reference)).await;
        assert_eq!((reply.status, reply.code()), (422, "INVALID_FIELD".to_owned()), "{reference}");
        assert_eq!(members(&reply)["error"], shape, "{reference}");
    }
    let reply = whole.relay_as("k", &named(&json!("l"))).await;
    assert_eq!((reply.status, reply.code()), (422, "INVALID_FIELD".to_owned()));
    assert_eq!(members(&reply)["error"], "reference: the Idempotency-Key names another one.");
    // The header keeps its own errors, and earlier fields are checked first.
    let reply = whole.relay_as("a b", &named(&json!("l"))).await;
    assert_eq!((reply.status, reply.code()), (400, "INVALID_REQUEST".to_owned()));
    let reply = whole.relay(&json!({ "reference": "" })).await;
    assert_eq!(reply.code(), "INVALID_PHONE");
    assert!(whole.postbox.messages().is_empty());
}

#[actix_web::test]
async fn ten_thousand_attempts_open_nothing() {
    let whole = Whole::open().await;
    assert_eq!(whole.send().await.status, 200);
    let login = whole.codes().0;
    let relayed: String = login.chars().rev().collect();
    let relayed = if relayed == login { "135791".to_owned() } else { relayed };
    let reply = whole.relay(&body(&relayed, 3_600)).await;
    let id = members(&reply)["otp_id"].clone();
    let by_phone = json!({ "phone": PHONE, "code": relayed });
    let by_id = json!({ "phone": PHONE, "code": relayed, "otp_id": id });
    for attempt in 0..5_000 {
        let reply = whole.app.post("/v1/otp/verify", &by_id.to_string()).await;
        assert_eq!(reply.code(), "OTP_NOT_FOUND", "{attempt}");
        let reply = whole.app.post("/v1/otp/verify", &by_phone.to_string()).await;
        let wanted = if attempt < 5 { "INVALID_OTP" } else { "VERIFY_RATE_LIMITED" };
        assert_eq!(reply.code(), wanted, "{attempt}: the login code beside it is guessed at");
    }
}
