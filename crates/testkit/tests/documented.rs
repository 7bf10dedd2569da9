//! Every deviation from the document is noticed.

#![cfg(feature = "openapi")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

use dwar_testkit::{Documented, SeenAnswer};
use serde_json::{Value, json};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An answer to a send, as tests change it.
#[derive(Clone)]
struct Answer {
    status: u16,
    headers: Vec<(String, String)>,
    body: Value,
}

impl Answer {
    fn right() -> Self {
        let headers = [
            ("x-request-id", "request-1"),
            ("x-content-type-options", "nosniff"),
            ("cache-control", "no-store"),
            ("content-type", "application/json"),
            ("ratelimit-limit", "3"),
        ];
        let body = json!({
            "otp_id": "01a3185c-507b-7459-8475-1a0f4a2a0e58",
            "status": "sent",
            "channel": "whatsapp",
            "expires_at": "2027-01-15T08:10:00.123Z",
            "expires_in": 600,
        });
        let own = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self { status: 200, headers: headers.map(own).to_vec(), body }
    }

    fn refusal(code: &str) -> Self {
        let body = json!({ "error": "No.", "code": code, "request_id": "request-1" });
        Self { status: 402, body, ..Self::right() }
    }

    fn with(mut self, member: &str, value: Value) -> Self {
        self.body[member] = value;
        self
    }

    fn header(mut self, name: &str, value: Option<&str>) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self.headers.extend(value.map(|value| (name.to_owned(), value.to_owned())));
        self
    }

    fn is_as_documented(&self, documented: &Documented) -> bool {
        let body = self.body.to_string();
        let answer = SeenAnswer {
            method: "POST",
            path: "/v1/otp/send",
            status: self.status,
            headers: &self.headers,
            body: body.as_bytes(),
        };
        catch_unwind(AssertUnwindSafe(|| documented.hold(answer))).is_ok()
    }
}

#[test]
fn no_answer_that_differs_passes() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let documented = Documented::new(&std::fs::read_to_string(path).unwrap());
    let right = Answer::right;
    assert!(right().is_as_documented(&documented));
    assert!(Answer::refusal("INSUFFICIENT_BALANCE").is_as_documented(&documented));
    let mut without = right();
    without.body.as_object_mut().unwrap().remove("expires_in");
    for (what, answer) in [
        ("a status that it does not have", Answer { status: 201, ..right() }),
        ("a header less", right().header("x-request-id", None)),
        ("a header of another type", right().header("ratelimit-limit", Some("three"))),
        ("a header with another value", right().header("x-content-type-options", Some("sniff"))),
        ("a header more", right().header("x-secret", Some("1"))),
        ("another media type", right().header("content-type", Some("text/html"))),
        ("a member less", without),
        ("a member more", right().with("code", json!("482913"))),
        ("a member of another type", right().with("expires_in", json!("600"))),
        ("a number out of its bounds", right().with("expires_in", json!(3_601))),
        ("a word that is not in the list", right().with("status", json!("lost"))),
        ("text that is not an id", right().with("otp_id", json!("1"))),
        ("text that is not an instant", right().with("expires_at", json!("tomorrow"))),
        ("a code of another operation", Answer::refusal("IDENTITY_NOT_FOUND")),
        ("a code of another status", Answer::refusal("OTP_RATE_LIMITED")),
        ("a code that nobody knows", Answer::refusal("NO_SUCH_CODE")),
    ] {
        assert!(!answer.is_as_documented(&documented), "{what} went unnoticed");
    }
}
