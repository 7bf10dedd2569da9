//! What applications give to the login contract; everything else is in its suite.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use dwar_client::login::{Login, Refusal};
use dwar_client::{Client, Code, Verifier};
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::SECRET;
use crate::fake::Fake;

fn service() -> Fake {
    Fake::answering(&json!({
        "otp_id": "o1", "status": "sent", "channel": null, "expires_in": 600,
        "expires_at": "2027-01-15T08:10:00.123Z",
    }))
}

fn login(service: &Fake) -> Login {
    let client = Client::new(&service.url, "svc_test_1").unwrap();
    let verifier = Verifier::new(&service.url, "project-1").unwrap();
    Login::new(client, verifier, SECRET, ["https://shop.example"]).unwrap()
}

async fn send(login: &Arc<Login>, body: Value) -> (StatusCode, Value) {
    let request = Request::post("/send").header(CONTENT_TYPE, "application/json");
    let request = request.header("x-address", "192.0.2.1").body(Body::from(body.to_string()));
    let response = login.router().oneshot(request.unwrap()).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), 1 << 20).await.unwrap();
    (status, serde_json::from_slice(&body).unwrap())
}

fn refused(secret: &str, origins: &[&str]) -> Option<String> {
    let client = Client::new("http://127.0.0.1:1", "svc_test_1").unwrap();
    let verifier = Verifier::new("http://127.0.0.1:1", "project-1").unwrap();
    let error = Login::new(client, verifier, secret, origins.iter().copied()).err()?;
    assert_eq!(error.code(), Code::Argument);
    Some(error.message().to_owned())
}

#[test]
fn a_short_secret_and_an_empty_list_of_origins_are_refused() {
    assert!(refused("short", &["https://shop.example"]).is_some());
    assert!(refused(SECRET, &[]).is_some());
}

#[test]
fn origins_are_those_that_browsers_send() {
    let table = include_str!("../../../suite/login/origins.json");
    let table: Vec<Value> = serde_json::from_str(table).unwrap();
    assert!(table.len() >= 26);
    for case in table {
        let (origin, is) = (case["origin"].as_str().unwrap(), case["is"].as_str().unwrap());
        match refused(SECRET, &["https://shop.example", origin]) {
            None => assert_eq!(is, "allowed", "{origin}"),
            Some(message) => {
                let says = message.contains(is) && message.contains(&format!("\"{origin}\" "));
                assert!(says, "{origin} is {is}: {message}");
            }
        }
    }
}

#[tokio::test]
async fn an_authorization_of_the_scheme_bearer_decides() {
    let (access, refresh) = ("__Host-dwar_access=a.b.c", "__Host-dwar_refresh=svc_rt_1");
    let login = login(&service());
    for (authorization, decides) in [
        (&b"Bearer"[..], true),
        (b"Bearer ", true),
        (b"bearer", true),
        (b"Bearer a b", true),
        (b" Bearer\ta ", true),
        (b"Bearer \xff", true),
        (b"Basic dTpw", false),
        (b"Bearers a", false),
        (b"", false),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, format!("{access}; {refresh}").parse().unwrap());
        headers.insert(AUTHORIZATION, HeaderValue::from_bytes(authorization).unwrap());
        let shown = String::from_utf8_lossy(authorization);
        assert_eq!(login.can_renew(&Method::GET, &headers), !decides, "{shown}");
        let nobody = login.authenticate(&Method::GET, &headers).await.unwrap();
        assert!(nobody.is_none(), "{shown}");
    }
}

#[tokio::test]
async fn admit_sees_the_body_and_its_refusal_is_answered_as_it_is_and_does_not_count() {
    let service = service();
    let admit = |_: &_, body: &serde_json::Map<_, _>| {
        let is_solved = body.get("captcha") == Some(&json!("solved"));
        async move {
            let refusal = Refusal::new(StatusCode::FORBIDDEN, "CAPTCHA_REQUIRED", "Solve it.");
            is_solved.then_some(()).ok_or(refusal)
        }
    };
    let address = |parts: &axum::http::request::Parts| {
        parts.headers.get("x-address")?.to_str().ok()?.parse().ok()
    };
    let login = login(&service).with_client_address(address).with_admit(admit);
    let login = login.with_sends_per_address(NonZeroUsize::new(5).unwrap());
    let login = Arc::new(login);
    for _ in 0..6 {
        let (status, body) = send(&login, json!({ "phone": "9876543210" })).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
        assert_eq!(body, json!({ "code": "CAPTCHA_REQUIRED", "error": "Solve it." }));
    }
    assert!(service.take_asked().is_empty());
    let solved = json!({ "phone": "9876543210", "captcha": "solved" });
    for _ in 0..5 {
        let (status, body) = send(&login, solved.clone()).await;
        assert_eq!((status, body), (StatusCode::OK, json!({ "otp_id": "o1", "expires_in": 600 })));
    }
    let (status, body) = send(&login, solved).await;
    assert_eq!((status, &body["code"]), (StatusCode::TOO_MANY_REQUESTS, &json!("TOO_MANY_SENDS")));
    assert_eq!(service.take_asked().len(), 5);
}

#[tokio::test]
async fn each_send_names_the_last_line_of_the_login() {
    let service = service();
    let plain = login(&service).with_client_address(|_| Some([192, 0, 2, 1].into()));
    let named = login(&service).with_client_address(|_| Some([192, 0, 2, 1].into()));
    let body = json!({ "phone": "9876543210", "last_line": "evil.example" });
    send(&Arc::new(plain), body.clone()).await;
    send(&Arc::new(named.with_last_line("FA+9qCX9VSu")), body).await;
    let asked: Vec<_> = service.take_asked().into_iter().map(|request| request.body).collect();
    let (phone, visitor) = ("9876543210", json!({ "address": "192.0.2.1" }));
    let line = json!({ "phone": phone, "visitor": visitor, "last_line": "FA+9qCX9VSu" });
    assert_eq!(asked, [json!({ "phone": phone, "visitor": visitor }), line]);
}

#[tokio::test]
async fn a_visitor_is_trusted_only_if_the_application_says_that_the_proof_is_good() {
    let (service, asked) = (service(), Arc::new(Mutex::new(Vec::new())));
    let heard = Arc::clone(&asked);
    let prove = move |_: &_, proof: &str| {
        heard.lock().unwrap().push(proof.to_owned());
        let is_right = proof == "right";
        async move { is_right }
    };
    let careful = Arc::new(
        login(&service)
            .with_client_address(|_| "2001:db8:0:1::9".parse().ok())
            .with_prove(prove.clone()),
    );
    let nowhere = Arc::new(login(&service).with_prove(prove));
    let careless = Arc::new(login(&service));
    let address = "2001:db8:0:1::";
    for (login, proof, visitor) in [
        (&careful, json!(""), json!({ "address": address })),
        (&careful, json!(5), json!({ "address": address })),
        (&careful, json!("wrong"), json!({ "address": address })),
        (&careful, json!("right"), json!({ "address": address, "trusted": true })),
        (&nowhere, json!("wrong"), Value::Null),
        (&nowhere, json!("right"), json!({ "trusted": true })),
        (&careless, json!("right"), Value::Null),
    ] {
        let claimed = json!({ "trusted": true });
        let body =
            json!({ "phone": "9876543210", "proof": proof, "trusted": true, "visitor": claimed });
        assert_eq!(send(login, body).await.0, StatusCode::OK);
        assert_eq!(service.take_asked()[0].body["visitor"], visitor, "{proof}");
    }
    assert_eq!(*asked.lock().unwrap(), ["wrong", "right", "wrong", "right"]);
}

#[tokio::test]
async fn without_an_address_nothing_is_counted_and_the_application_is_told_once() {
    let (service, told) = (service(), Arc::new(Mutex::new(Vec::new())));
    let heard = Arc::clone(&told);
    let login = login(&service)
        .with_sends_per_address(NonZeroUsize::MIN)
        .with_on_error(move |error| heard.lock().unwrap().push(error.code()));
    let login = Arc::new(login);
    for _ in 0..3 {
        let (status, _) = send(&login, json!({ "phone": "9876543210" })).await;
        assert_eq!(status, StatusCode::OK);
    }
    assert_eq!(*told.lock().unwrap(), [Code::Argument]);
    assert_eq!(service.take_asked().len(), 3);
}
