use crate::support::TestApp;
use actix_web::http::Method;
use actix_web::http::header::HeaderValue;
use actix_web::test::TestRequest;
use dwar_http::{LoopHealth, Readiness};
use dwar_session::JwkSet;
use dwar_testkit::MS;
use insta::assert_snapshot;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Once};
use tokio::time::timeout;

const JWKS: &str = "/.well-known/jwks.json";

fn with_keys() -> TestApp {
    TestApp::with(|ports| {
        let keys = JwkSet {
            json: r#"{"keys":[]}"#.to_owned(),
            etag: "v1".to_owned(),
            algorithms: Vec::new(),
        };
        ports.signer.expect_public_keys().returning(move |_| Ok(keys.clone()));
    })
}

#[actix_web::test]
async fn a_sane_request_id_is_kept_and_any_other_replaced() {
    let app = TestApp::new();
    let longest = "x".repeat(64);
    for id in ["a", "trace-0123/~", &longest] {
        let reply = app.send(TestRequest::with_uri("/healthz").insert_header(("X-Request-Id", id)));
        assert_eq!(reply.await.header("x-request-id"), Some(id));
    }
    let too_long = "x".repeat(65);
    for id in ["", "a b", "a\tb", "\u{e9}", &too_long] {
        let id = HeaderValue::from_bytes(id.as_bytes()).unwrap();
        let reply = app.send(TestRequest::with_uri("/healthz").insert_header(("X-Request-Id", id)));
        let made = reply.await.header("x-request-id").unwrap().to_owned();
        assert_eq!((made.len(), made.as_bytes()[14]), (36, b'7'), "{made}");
    }
    let twice = TestRequest::with_uri("/healthz").insert_header(("X-Request-Id", "a"));
    let reply = app.send(twice.append_header(("X-Request-Id", "a"))).await;
    assert_eq!(reply.header("x-request-id").unwrap().len(), 36);
}

#[actix_web::test]
async fn every_refusal_has_the_same_shape_and_the_id_of_its_header() {
    let reply = with_keys().send(TestRequest::with_uri("/nowhere")).await;
    let body: serde_json::Value = serde_json::from_str(&reply.body).unwrap();
    let members: BTreeSet<_> = body.as_object().unwrap().keys().cloned().collect();
    let members: Vec<_> = members.into_iter().collect();
    assert_eq!(members, ["code", "error", "request_id"]);
    assert_eq!(body["request_id"].as_str(), reply.header("x-request-id"));
}

#[actix_web::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let app = with_keys();
    for (method, path, allow) in [
        (Method::GET, "/v1/otp/send", "POST"),
        (Method::HEAD, "/v1/otp/verify", "POST"),
        (Method::POST, "/v1/identity", "GET, HEAD"),
        (Method::PATCH, "/v1/identity/1", "GET, HEAD, DELETE"),
        (Method::OPTIONS, "/v1/session/logout", "POST"),
        (Method::DELETE, "/v1/sandbox/messages", "GET, HEAD"),
        (Method::POST, JWKS, "GET, HEAD"),
        (Method::POST, "/healthz", "GET, HEAD"),
    ] {
        let reply = app.send(app.request(method, path)).await;
        assert_eq!((reply.status, reply.code().as_str()), (405, "METHOD_NOT_ALLOWED"), "{path}");
        assert_eq!(reply.header("allow"), Some(allow), "{path}");
    }
}

#[actix_web::test]
async fn an_unreadable_path_is_an_invalid_request() {
    let app = TestApp::with(|ports| ports.project.identity_lookup = true);
    for path in ["/v1/%ff", "/v1/identity/%ff", "/v1/otp/status/%zz", "/v1/identity/%", "/%C3"] {
        assert_eq!(app.get(path).await.code(), "INVALID_REQUEST", "{path}");
    }
    assert_eq!(app.get("/v1/otp/status/a%2Fb").await.code(), "OTP_REQUEST_NOT_FOUND");
    assert_eq!(app.get("/v1/otp/status/%00").await.code(), "OTP_REQUEST_NOT_FOUND");
}

#[actix_web::test]
async fn a_panic_costs_one_request_and_nothing_else() {
    let app = TestApp::with(|ports| {
        ports.otps.expect_find().returning(|_, _| panic!("a bug"));
        ports.sign_anything();
        ports.logins.expect_redeem().returning(|_, _| panic!("a bug in a task"));
    });
    let path = "/v1/otp/status/00000000-0000-7000-8000-000000000000";
    assert_snapshot!(app.get(path).await.text(), @r#"
        500
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 1000
        ratelimit-remaining: 999
        ratelimit-reset: 60
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"Something went wrong on our side.","code":"INTERNAL_ERROR","request_id":"request-1"}
        "#);
    let verify = r#"{"phone":"9876543210","code":"123456"}"#;
    assert_snapshot!(app.post("/v1/otp/verify", verify).await.text(), @r#"
        500
        cache-control: no-store
        content-type: application/json
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"Something went wrong on our side.","code":"INTERNAL_ERROR","request_id":"request-1"}
        "#);
    assert_eq!(app.get("/healthz").await.status, 200);
}

#[actix_web::test]
async fn readiness_names_loops_that_had_to_be_started_again() {
    struct Stumbled;
    #[async_trait::async_trait]
    impl Readiness for Stumbled {
        async fn ready(&self) -> bool {
            true
        }

        fn restarted(&self) -> Vec<LoopHealth> {
            vec![LoopHealth { name: "tidy", restarts: 2, running: false }]
        }
    }
    let app = TestApp::with(|ports| ports.ready = Arc::new(Stumbled));
    let ready = app.get("/readyz").await;
    let body = r#"{"status":"ready","loops":[{"name":"tidy","restarts":2,"running":false}]}"#;
    assert_eq!((ready.status, ready.body.as_str()), (200, body));
    assert_eq!(app.get("/healthz").await.body, r#"{"status":"ok"}"#);
}

/// Operators are told the reason; clients are not.
#[actix_web::test]
async fn a_clock_that_is_too_far_off_has_nothing_served() {
    const TOLD: &str = "the clock of this machine is 40 s ahead of the database's";
    struct Ahead(bool);
    #[async_trait::async_trait]
    impl Readiness for Ahead {
        async fn ready(&self) -> bool {
            true
        }

        fn hindrance(&self) -> Option<String> {
            self.0.then(|| TOLD.to_owned())
        }

        fn clock(&self) -> Option<String> {
            Some(TOLD.to_owned())
        }
    }
    let app = TestApp::with(|ports| ports.ready = Arc::new(Ahead(true)));
    let body = |said: &str| {
        format!(r#"{{"error":"{said}","code":"SERVICE_UNAVAILABLE","request_id":"request-1"}}"#)
    };
    let ready = app.get("/readyz").await;
    assert_eq!((ready.status, ready.body), (503, body(TOLD)));
    let refused = app.post("/v1/session/validate", r#"{"access_token":"a.b.c"}"#).await;
    let plain = body("The service is temporarily unavailable.");
    assert_eq!((refused.status, refused.body), (503, plain));
    assert_eq!(app.get("/healthz").await.status, 200);

    let app = TestApp::with(|ports| ports.ready = Arc::new(Ahead(false)));
    let ready = app.get("/readyz").await;
    assert_eq!(
        (ready.status, ready.body),
        (200, format!(r#"{{"status":"ready","clock":"{TOLD}"}}"#))
    );
}

#[actix_web::test]
async fn health_and_readiness() {
    let ready = Arc::new(crate::ports::Ready(true.into()));
    let shared = Arc::clone(&ready);
    let app = TestApp::with(|ports| ports.ready = shared);
    assert_snapshot!(app.get("/healthz").await.text(), @r#"
        200
        cache-control: no-store
        content-type: application/json
        x-content-type-options: nosniff
        x-request-id: request-1

        {"status":"ok"}
        "#);
    assert_eq!(app.get("/readyz").await.status, 200);
    ready.0.store(false, Ordering::Relaxed);
    assert_snapshot!(app.get("/readyz").await.text(), @r#"
        503
        cache-control: no-store
        content-type: application/json
        retry-after: 2
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"The service is temporarily unavailable.","code":"SERVICE_UNAVAILABLE","request_id":"request-1"}
        "#);
    assert_eq!(app.get("/healthz").await.status, 200);
}

#[actix_web::test]
async fn the_public_keys_are_cached_and_revalidated() {
    let app = with_keys();
    let get = |etag: &'static str| {
        let request = TestRequest::with_uri(JWKS).insert_header(crate::support::REQUEST_ID);
        app.send(request.insert_header(("If-None-Match", etag)))
    };
    assert_snapshot!(get("\"other\"").await.text(), @r#"
        200
        access-control-allow-origin: *
        cache-control: public, max-age=300
        content-type: application/json
        etag: "v1"
        x-content-type-options: nosniff
        x-request-id: request-1

        {"keys":[]}
        "#);
    assert_snapshot!(get("\"v1\"").await.text(), @r#"
        304
        access-control-allow-origin: *
        cache-control: public, max-age=300
        etag: "v1"
        x-content-type-options: nosniff
        x-request-id: request-1
        "#);
    for (etag, status) in
        [("W/\"v1\"", 304), ("*", 304), ("\"a\", \"v1\"", 304), ("v1", 200), ("\"v1", 200)]
    {
        assert_eq!(get(etag).await.status, status, "{etag}");
    }
}

thread_local! {
    static LOG: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Separates the logs of each test's thread: a subscriber per test would race with the others'.
struct Log;

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        LOG.with_borrow_mut(|log| log.extend_from_slice(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn start_the_log() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let subscriber = tracing_subscriber::fmt().json().with_writer(|| Log).finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
    });
}

struct NeverAnswers;

#[async_trait::async_trait]
impl Readiness for NeverAnswers {
    async fn ready(&self) -> bool {
        std::future::pending().await
    }
}

#[actix_web::test]
async fn a_client_that_hangs_up_has_its_line_too() {
    start_the_log();
    let app = TestApp::with(|ports| ports.ready = Arc::new(NeverAnswers));
    let request = app.get("/readyz");
    assert!(timeout(MS, request).await.is_err(), "it answered");
    let line: serde_json::Value = serde_json::from_slice(&LOG.take()).unwrap();
    assert_eq!(line["fields"]["message"], "client hung up");
    assert_eq!(line["fields"]["route"], "/readyz");
    assert!(line["fields"].get("status").is_none());
}

#[actix_web::test]
async fn one_line_per_request_names_the_route_and_nothing_a_client_wrote() {
    start_the_log();
    let app = TestApp::with(|ports| {
        ports.project.identity_lookup = true;
        ports.otps.expect_find().returning(|_, _| panic!("a bug"));
    });
    app.get("/v1/identity/secret-id?phone=9876543210").await;
    app.send(TestRequest::with_uri("/secret-path").method(Method::from_bytes(b"SECRET").unwrap()))
        .await;

    app.get("/v1/otp/status/01920000-0000-7000-8000-00000000dead").await;

    let text = String::from_utf8(LOG.take()).unwrap();
    for secret in ["secret", "SECRET", "98765", "dead", app.live.as_str()] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let lines: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let [found, lost, panicked, broken] = lines.as_slice() else { panic!("{text}") };
    assert_eq!(found["target"], "dwar::access");
    assert_eq!(found["fields"]["method"], "GET");
    assert_eq!(found["fields"]["route"], "/v1/identity/{id}");
    assert_eq!(found["fields"]["status"], 404);
    assert_eq!(found["fields"]["code"], "IDENTITY_NOT_FOUND");
    assert_eq!(found["fields"]["request_id"], "request-1");
    assert_eq!(found["fields"]["mode"], "live");
    assert_eq!(found["fields"]["project"].as_str().unwrap().len(), 36);
    assert!(found["fields"]["duration_ms"].is_number() && found["fields"]["bytes"].is_number());
    assert_eq!(lost["fields"]["route"], "none");
    assert_eq!(lost["fields"]["method"], "other");
    assert!(lost["fields"].get("project").is_none());
    assert_eq!(panicked["fields"]["message"], "a request panicked");
    assert_eq!(panicked["span"]["request_id"], "request-1");
    assert_eq!(broken["fields"]["route"], "/v1/otp/status/{otp_id}");
    assert_eq!(broken["fields"]["code"], "INTERNAL_ERROR");
}
