//! What is of this language alone; everything else is in the suite.
#![allow(clippy::unwrap_used, reason = "everything here runs inside tests")]

mod calls;
mod document;
mod fake;
mod keys;
#[cfg(feature = "axum")]
mod login;

use std::error::Error as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use dwar_client::{BoxError, Client, Code, EventVerifier, Session, Store, Verifier, reqwest};
use fake::Fake;
use serde_json::json;
use tokio::sync::Mutex;
use tokio::time::timeout;

const SECRET: &str = "the secret of this backend, 32 characters";

fn tokens(number: u32) -> serde_json::Value {
    json!({
        "access_token": format!("at_{number}"), "refresh_token": "svc_rt_1", "token_type": "Bearer",
        "expires_in": 0, "refresh_expires_in": 900, "session_id": "s1", "identity_id": "i1",
    })
}

#[derive(Clone, Default)]
struct Memory {
    pair: Arc<Mutex<Option<String>>>,
    loads: Arc<AtomicU32>,
    /// The load that panics, the first being 1.
    panics: u32,
    delay: Duration,
}

impl Store for Memory {
    async fn load(&self) -> Result<Option<String>, BoxError> {
        assert_ne!(self.loads.fetch_add(1, Ordering::Relaxed) + 1, self.panics, "as asked for");
        Ok(self.pair.lock().await.clone())
    }

    async fn save(&self, pair: &str) -> Result<(), BoxError> {
        tokio::time::sleep(self.delay).await;
        *self.pair.lock().await = Some(pair.into());
        Ok(())
    }
}

struct Broken;

impl Store for Broken {
    async fn load(&self) -> Result<Option<String>, BoxError> {
        Err("the disk is full".into())
    }

    async fn save(&self, _: &str) -> Result<(), BoxError> {
        Err("the disk is full".into())
    }
}

#[test]
fn a_time_limit_that_is_none_is_refused() {
    for limit in [Duration::ZERO, Duration::from_millis(600_001)] {
        let client = Client::new("https://otp.example.com", "svc_test_1").unwrap();
        assert_eq!(client.with_timeout(limit).unwrap_err().code(), Code::Argument);
        let verifier = Verifier::new("https://otp.example.com", "project-1").unwrap();
        assert_eq!(verifier.with_timeout(limit).unwrap_err().code(), Code::Argument);
    }
}

#[test]
fn a_text_that_is_no_secret_of_events_is_refused() {
    for secret in ["", "whsec_", "whsec_*", "AAEC"] {
        let refused = EventVerifier::new([secret]).err().map(|error| error.code());
        assert_eq!(refused, Some(Code::Argument), "{secret}");
    }
}

#[tokio::test]
async fn a_store_that_fails_is_told_with_its_reason() {
    let client = Client::new("https://otp.example.com", "svc_test_1").unwrap();
    let session = Session::new(&client, Broken, SECRET).unwrap();
    let error = session.access_token().await.unwrap_err();
    assert_eq!(error.code(), Code::StoreFailed);
    assert_eq!(error.source().unwrap().to_string(), "the disk is full");
}

#[tokio::test]
async fn a_refresh_goes_on_when_the_call_that_waits_is_dropped() {
    let fake = Fake::answering(&tokens(2));
    let client = Client::new(&fake.url, "svc_test_1").unwrap();
    let store = Memory { delay: Duration::from_millis(200), ..Memory::default() };
    let session = Session::new(&client, store.clone(), SECRET).unwrap();
    session.begin(&serde_json::from_value(tokens(1)).unwrap()).await.unwrap();

    timeout(Duration::from_millis(100), session.access_token()).await.unwrap_err();
    assert_eq!(session.access_token().await.unwrap().reveal(), "at_2");
    assert_eq!(fake.take_asked().len(), 1);
    assert!(store.pair.lock().await.as_ref().unwrap().contains("at_2"));
}

#[tokio::test]
async fn a_store_that_panics_ends_one_refresh_and_not_the_session() {
    let fake = Fake::answering(&tokens(2));
    let client = Client::new(&fake.url, "svc_test_1").unwrap();
    let store = Memory { panics: 2, ..Memory::default() };
    let session = Session::new(&client, store, SECRET).unwrap();
    session.begin(&serde_json::from_value(tokens(1)).unwrap()).await.unwrap();

    assert_eq!(session.access_token().await.unwrap_err().code(), Code::NetworkError);
    assert_eq!(session.access_token().await.unwrap().reveal(), "at_2");
}

#[tokio::test]
async fn an_error_of_the_network_has_its_cause_and_no_phone_number() {
    let client = Client::new("http://127.0.0.1:1", "svc_test_1").unwrap();
    let error = client.identity_by_phone("9876543210").await.unwrap_err();
    let cause = error.source().unwrap().source().unwrap().to_string();
    assert!(cause.contains("onnect"), "{cause}");
    assert!(!format!("{error:?}").contains("9876543210"), "{error:?}");
}

#[tokio::test]
async fn an_error_printed_has_the_status_of_the_answer() {
    let fake = Fake::answering(&json!({ "valid": false }));
    let error = Client::new(&fake.url, "svc_test_1").unwrap().validate("at_1").await.unwrap_err();
    let known =
        "UNKNOWN_ERROR: an answer that this version of the client does not know: status 200";
    assert_eq!(error.to_string(), format!("{known} (status 200)"));
}

#[tokio::test]
async fn a_builder_of_ones_own_makes_the_http_client_and_its_proxy_gets_no_loopback_traffic() {
    let mut headers = reqwest::header::HeaderMap::new();
    headers.insert("x-own", "1".parse().unwrap());
    let builder = || {
        let proxy = reqwest::Proxy::all("http://127.0.0.1:9").unwrap();
        reqwest::Client::builder().default_headers(headers.clone()).proxy(proxy)
    };
    let fake = Fake::answering(&json!({ "revoked": true }));
    let client = Client::new(&fake.url, "svc_test_1").unwrap().with_http(builder()).unwrap();
    client.logout("at_1").await.unwrap();
    let [asked] = &fake.take_asked()[..] else { panic!("one request") };
    assert!(asked.head.contains("x-own: 1"), "{}", asked.head);
    assert!(asked.head.contains("user-agent: dwar-client/"), "{}", asked.head);

    let verifier = Verifier::new(&fake.url, "project-1").unwrap().with_http(builder()).unwrap();
    let token = "eyJhbGciOiJFUzI1NiIsInR5cCI6ImF0K2p3dCIsImtpZCI6ImsxIn0.e30.AA";
    assert_eq!(verifier.verify(token).await.unwrap_err().code(), Code::UnknownError);
    assert!(fake.take_asked()[0].head.contains("x-own: 1"));
}

#[tokio::test]
async fn a_stored_session_that_cannot_be_read_is_expired() {
    let fake = Fake::answering(&tokens(2));
    let client = Client::new(&fake.url, "svc_test_1").unwrap();
    for stored in [
        "",
        "{}",
        "null",
        "[]",
        "{",
        r#"{"access_token":"at_1"}"#,
        r#"{"access_token":"","refresh_token":""}"#,
        r#"{"access_token":"at_1","refresh_token":"rt"}"#,
        r#"{"access_token":"at_1","refresh_token":5,"expires_at":1}"#,
        r#"{"access_token":"","refresh_token":"rt","expires_at":1}"#,
        r#"{"access_token":"at_1","refresh_token":"rt","expires_at":"x"}"#,
    ] {
        let pair = Arc::new(Mutex::new(Some(stored.into())));
        let session = Session::new(&client, Memory { pair, ..Memory::default() }, SECRET).unwrap();
        let error = session.access_token().await.unwrap_err();
        assert_eq!(error.code(), Code::SessionExpired, "{stored}: {error}");
    }
    assert!(fake.take_asked().is_empty());
}

#[tokio::test]
async fn a_stored_session_of_what_is_needed_is_refreshed() {
    let fake = Fake::answering(&tokens(2));
    let client = Client::new(&fake.url, "svc_test_1").unwrap();
    let stored = r#"{"access_token":"at_1","refresh_token":"svc_rt_1","expires_at":1}"#;
    let pair = Arc::new(Mutex::new(Some(stored.into())));
    let session = Session::new(&client, Memory { pair, ..Memory::default() }, SECRET).unwrap();
    assert_eq!(session.access_token().await.unwrap().reveal(), "at_2");
}

#[tokio::test]
async fn a_time_limit_has_its_cause() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let client = Client::new(&url, "svc_test_1").unwrap();
    let client = client.with_timeout(Duration::from_millis(100)).unwrap();
    let error = client.identity("i1").await.unwrap_err();
    assert_eq!(error.message(), "no answer within the time limit");
    assert!(error.source().unwrap().is::<tokio::time::error::Elapsed>(), "{error:?}");
}

#[tokio::test]
async fn a_refusal_without_a_sentence_has_its_code() {
    let fake = Fake::answering(&json!({}));
    let client = Client::new(&fake.url, "svc_test_1").unwrap();
    let (known, unknown) = ((Code::InvalidOtp, false), (Code::UnknownError, true));
    for (status, body, expected) in [
        (400, json!({ "code": "INVALID_OTP" }), known),
        (400, json!({ "code": "INVALID_OTP", "error": "" }), known),
        (400, json!({ "code": "INVALID_OTP", "error": null }), known),
        (400, json!({ "code": "INVALID_OTP", "error": 5 }), known),
        (400, json!({ "code": "OF_LATER" }), unknown),
        (400, json!({ "error": "The code is incorrect." }), unknown),
        (200, json!({ "code": "INVALID_OTP" }), unknown),
    ] {
        fake.refuse(status, &body);
        let error = client.verify("9876543210", "123456", None).await.unwrap_err();
        assert_eq!((error.code(), error.raw().is_some()), expected, "{body}: {error}");
        assert!(!error.message().is_empty(), "{body}");
    }
}
