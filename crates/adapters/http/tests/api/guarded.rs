//! The visitor of a send, and sends that need a proof.

use crate::provoked::{PHONE, Whole};
use crate::support::Reply;
use dwar_kernel::GuardMode;
use dwar_project::{ProjectChange, ProjectStore};
use dwar_testkit::any_project;
use serde_json::{Value, json};

const SEND: &str = "/v1/otp/send";

impl Whole {
    async fn send_of(&self, phone: &str, visitor: Value) -> Reply {
        self.app.post(SEND, &json!({ "phone": phone, "visitor": visitor }).to_string()).await
    }

    async fn guard(&self, mode: GuardMode) {
        let change = ProjectChange { guard: Some(mode), ..ProjectChange::default() };
        self.store.change(self.project, change, any_project()).await.unwrap();
    }
}

fn said(reply: &Reply) -> String {
    let members: Value = serde_json::from_str(&reply.body).unwrap();
    members["error"].as_str().unwrap_or_default().to_owned()
}

#[actix_web::test]
async fn what_is_wrong_with_a_visitor_is_said() {
    let whole = Whole::open().await;
    let address = "visitor.address: must be an IPv4 or IPv6 address.";
    let trusted = "visitor.trusted: must be true or false.";
    for (visitor, sentence) in [
        (json!("203.0.113.7"), "visitor: must be an object."),
        (json!([]), "visitor: must be an object."),
        (json!({ "address": "" }), address),
        (json!({ "address": 7 }), address),
        (json!({ "address": "203.0.113.7:80" }), address),
        (json!({ "trusted": "true" }), trusted),
        (json!({ "trusted": 1 }), trusted),
    ] {
        let reply = whole.send_of(PHONE, visitor.clone()).await;
        assert_eq!((reply.status, reply.code()), (422, "INVALID_FIELD".to_owned()), "{visitor}");
        assert_eq!(said(&reply), sentence, "{visitor}");
    }
    assert!(whole.postbox.messages().is_empty());
    for visitor in [
        json!(null),
        json!({}),
        json!({ "address": null, "trusted": null, "other": 1 }),
        json!({ "address": "2001:db8::1", "trusted": true }),
    ] {
        let phone = format!("98765432{:02}", whole.postbox.messages().len());
        assert_eq!(whole.send_of(&phone, visitor.clone()).await.status, 200, "{visitor}");
    }
    let reply = whole.app.post(SEND, r#"{"phone":"1","visitor":1}"#).await;
    assert_eq!(reply.code(), "INVALID_PHONE", "the phone is looked at first");
}

#[actix_web::test]
async fn a_number_with_an_identity_and_one_without_get_the_same_answer() {
    let whole = Whole::open().await;
    let known = "9876549999";
    assert_eq!(whole.send_of(known, json!({})).await.status, 200);
    let code = whole.postbox.messages().pop().unwrap().code;
    let guess = json!({ "phone": known, "code": code.expose() }).to_string();
    assert_eq!(whole.app.post("/v1/otp/verify", &guess).await.status, 200);
    whole.guard(GuardMode::Enforce).await;
    for number in 0..20 {
        let reply = whole.send_of(&format!("987654{number:04}"), json!({})).await;
        assert_eq!(reply.status, 200, "{number}");
    }
    let text = |reply: &Reply| {
        let id = reply.header("x-request-id").unwrap().to_owned();
        reply.text().replace(&id, "ID")
    };
    let asked = whole.send_of(known, json!({})).await;
    let stranger = whole.send_of("9876548888", json!({})).await;
    assert_eq!((asked.status, asked.code()), (403, "PROOF_REQUIRED".to_owned()));
    assert_eq!(text(&asked), text(&stranger));
    assert_eq!(asked.header("ratelimit-limit"), None);
    let proven = json!({ "address": "203.0.113.7", "trusted": true });
    assert_eq!(whole.send_of(known, proven.clone()).await.status, 200);
    assert_eq!(whole.send_of("9876548888", proven).await.status, 200);
    // Relaying is not judged.
    let relayed = json!({ "phone": "9876547777", "code": "4829", "expires_in": 600 });
    assert_eq!(whole.app.post("/v1/otp/relay", &relayed.to_string()).await.status, 200);
    whole.guard(GuardMode::Watch).await;
    assert_eq!(whole.send_of("9876546666", json!({})).await.status, 200);
}

#[actix_web::test]
async fn a_test_number_asks_for_a_proof() {
    let whole = Whole::open().await;
    let body = |visitor: Value| json!({ "phone": "9000000006", "visitor": visitor }).to_string();
    let asked = whole.app.post_in_test_mode(SEND, &body(json!({}))).await;
    assert_eq!((asked.status, asked.code()), (403, "PROOF_REQUIRED".to_owned()));
    let proven = whole.app.post_in_test_mode(SEND, &body(json!({ "trusted": true }))).await;
    assert_eq!(proven.status, 200);
    // With a live key it is a number like any other.
    assert_eq!(whole.app.post(SEND, &body(json!({}))).await.status, 200);
}
