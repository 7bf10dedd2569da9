use crate::support::TestApp;
use actix_web::http::Method;
use insta::assert_snapshot;

const LIMITED: &str = "/v1/nowhere";

#[actix_web::test]
async fn every_answer_of_a_limited_call_tells_how_it_stands() {
    let app = TestApp::with(|ports| ports.general = 2);
    let first = app.get(LIMITED).await;
    assert_eq!(first.status, 404);
    let standing = |name| first.header(name).unwrap().to_owned();
    assert_eq!(
        ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map(standing),
        ["2", "1", "60"]
    );
    app.get(LIMITED).await;
    assert_snapshot!(app.get(LIMITED).await.text(), @r#"
        429
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 2
        ratelimit-remaining: 0
        ratelimit-reset: 60
        retry-after: 60
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"Too many requests with this API key.","code":"RATE_LIMITED","request_id":"request-1"}
        "#);
}

#[actix_web::test]
async fn the_limit_comes_before_the_body_and_after_the_key() {
    let app = TestApp::with(|ports| ports.general = 0);
    assert_eq!(app.post("/v1/session/refresh", "no json").await.code(), "RATE_LIMITED");
    assert_eq!(app.send(app.request(Method::PUT, LIMITED)).await.code(), "RATE_LIMITED");
    let unknown = actix_web::test::TestRequest::with_uri(LIMITED);
    assert_eq!(app.send(unknown).await.code(), "MISSING_API_KEY");
}

#[actix_web::test]
async fn send_and_verify_do_not_know_the_general_limit() {
    let app = TestApp::with(|ports| (ports.general, ports.validate) = (0, 0));
    assert_eq!(app.post("/v1/otp/send", "{}").await.code(), "INVALID_PHONE");
    assert_eq!(app.post("/v1/otp/verify", "{}").await.code(), "INVALID_PHONE");
    assert_eq!(app.post("/v1/session/validate", "{}").await.code(), "RATE_LIMITED");
}

#[actix_web::test]
async fn validate_has_a_window_of_its_own() {
    let app = TestApp::with(|ports| (ports.general, ports.validate) = (0, 1));
    assert_eq!(app.post("/v1/session/validate", "{}").await.code(), "MISSING_ACCESS_TOKEN");
    assert_eq!(app.post("/v1/session/validate", "{}").await.code(), "RATE_LIMITED");
}
