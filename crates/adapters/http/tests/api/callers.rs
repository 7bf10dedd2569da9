use crate::support::TestApp;
use actix_web::http::Method;
use actix_web::http::header::HeaderValue;
use actix_web::test::TestRequest;
use dwar_kernel::StoreError;
use dwar_ratelimit::RequestScope;
use insta::assert_snapshot;
use std::sync::Arc;

const SEND: &str = "/v1/otp/send";

#[actix_web::test]
async fn without_a_key_there_is_a_challenge() {
    let reply = TestApp::new().send(TestRequest::post().uri(SEND)).await;
    assert_eq!((reply.status, reply.code().as_str()), (401, "MISSING_API_KEY"));
    assert_eq!(reply.header("www-authenticate"), Some(r#"ApiKey realm="v1""#));
}

#[actix_web::test]
async fn every_bad_key_gets_the_same_answer() {
    let app = TestApp::new();
    let mut checksum = app.live.clone();
    checksum.pop();
    checksum.push('!');
    let long = "k".repeat(8 * 1_024);
    let mut bodies = Vec::new();
    for key in ["", " ", "svc_live_", "\u{e9}", &checksum, &long, &format!("{},x", app.live)] {
        let key = HeaderValue::from_bytes(key.as_bytes()).unwrap();
        let request = TestRequest::post().uri(SEND).insert_header(("X-Api-Key", key));
        let reply = app.send(request.insert_header(crate::support::REQUEST_ID)).await;
        assert_eq!((reply.status, reply.code().as_str()), (401, "INVALID_API_KEY"));
        bodies.push(reply.text());
    }
    bodies.dedup();
    assert_eq!(bodies.len(), 1);
    assert_snapshot!(bodies[0], @r#"
        401
        cache-control: no-store
        content-type: application/json
        www-authenticate: ApiKey realm="v1"
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"The API key is not recognised.","code":"INVALID_API_KEY","request_id":"request-1"}
        "#);
}

#[actix_web::test]
async fn a_key_sent_twice_is_invalid_even_if_it_is_the_right_one() {
    let app = TestApp::new();
    let key = app.live.clone();
    let twice = app.request(Method::GET, "/v1/nowhere").append_header(("X-Api-Key", key));
    assert_eq!(app.send(twice).await.code(), "INVALID_API_KEY");
}

#[actix_web::test]
async fn a_key_is_asked_for_below_v1_whatever_the_path_or_method() {
    let app = TestApp::new();
    for (method, path) in [
        (Method::GET, "/v1/nowhere"),
        (Method::GET, "/v1/otp/send"),
        (Method::PUT, "/v1/identity/1"),
        (Method::OPTIONS, "/v1/otp/verify"),
        (Method::GET, "/v1/%ff"),
        (Method::GET, "/v1/otp/status/"),
    ] {
        let reply = app.send(TestRequest::with_uri(path).method(method)).await;
        assert_eq!(reply.code(), "MISSING_API_KEY", "{path}");
    }
    for path in ["/", "/nowhere", "/V1/otp/send", "//v1/otp/send", "/v1x"] {
        let reply = app.send(TestRequest::with_uri(path)).await;
        assert_eq!((reply.status, reply.code().as_str()), (404, "NOT_FOUND"), "{path}");
    }
}

#[actix_web::test]
async fn each_route_asks_its_own_window_and_no_other() {
    let windows = Arc::default();
    let shared = Arc::clone(&windows);
    let app = TestApp::with(|ports| ports.windows = shared);
    app.post("/v1/otp/send", "{}").await;
    app.post("/v1/otp/verify", "{}").await;
    app.post("/v1/session/validate", "{}").await;
    app.get("/v1/session/forward-auth/any").await;
    app.post("/oauth2/introspect", "").await;
    let validate = [RequestScope::Validate; 3];
    let own = [&[RequestScope::Send, RequestScope::Verify], &validate[..]].concat();
    assert_eq!(windows.asked(), own);
    let general = [
        (Method::GET, "/v1/otp/status/1"),
        (Method::POST, "/v1/session/refresh"),
        (Method::POST, "/v1/session/logout"),
        (Method::GET, "/v1/identity"),
        (Method::GET, "/v1/identity/1"),
        (Method::DELETE, "/v1/identity/1"),
        (Method::GET, "/v1/sandbox/messages"),
        (Method::GET, "/v1/nowhere"),
        (Method::GET, "/v1/otp/send"),
        (Method::GET, "/v1/session/validate"),
    ];
    for (asked, (method, path)) in (own.len() + 1..).zip(general) {
        app.send(app.request(method, path)).await;
        assert_eq!(windows.asked().len(), asked, "{path}");
        assert_eq!(windows.asked().last(), Some(&RequestScope::General), "{path}");
    }
}

#[actix_web::test]
async fn a_store_out_of_reach_asks_to_come_back() {
    let app = TestApp::with(|ports| {
        let down = || StoreError::Unavailable("connect to db.internal refused".to_owned());
        ports.projects.expect_caller().returning(move |_| Err(down()));
    });
    let reply = app.post(SEND, "{}").await;
    assert_snapshot!(reply.text(), @r#"
        503
        cache-control: no-store
        content-type: application/json
        retry-after: 2
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"The service is temporarily unavailable.","code":"SERVICE_UNAVAILABLE","request_id":"request-1"}
        "#);
}

#[actix_web::test]
async fn a_broken_store_tells_the_client_nothing() {
    let app = TestApp::with(|ports| {
        let broken = || StoreError::Failed("syntax error near SELECT".into());
        ports.projects.expect_caller().returning(move |_| Err(broken()));
    });
    let reply = app.post(SEND, "{}").await;
    assert_snapshot!(reply.text(), @r#"
        500
        cache-control: no-store
        content-type: application/json
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"Something went wrong on our side.","code":"INTERNAL_ERROR","request_id":"request-1"}
        "#);
}
