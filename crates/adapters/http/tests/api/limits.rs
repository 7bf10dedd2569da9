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

#[actix_web::test]
async fn the_ceilings_come_after_the_key_and_before_everything_else() {
    for path in ["/v1/otp/send", "/v1/otp/verify"] {
        let app = TestApp::with(|ports| ports.ceiling = 1);
        // The request is refused for its body, so it passed the ceiling, which the answer does not
        // mention.
        let first = app.post(path, "no json").await;
        assert_eq!(first.code(), "INVALID_REQUEST");
        assert_eq!(first.header("ratelimit-limit"), None);
        let refused = app.post(path, "no json").await;
        assert_eq!((refused.status, refused.code().as_str()), (429, "RATE_LIMITED"), "{path}");
        let standing = |name| refused.header(name).unwrap().to_owned();
        assert_eq!(
            ["retry-after", "ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]
                .map(standing),
            ["60", "1", "0", "60"]
        );
        let twice = app.request(Method::POST, path).insert_header(("Idempotency-Key", ""));
        assert_eq!(app.send(twice).await.code(), "RATE_LIMITED");
        let unknown = actix_web::test::TestRequest::post().uri(path);
        assert_eq!(app.send(unknown).await.code(), "MISSING_API_KEY");
        // The other key and the other windows are not affected.
        assert_eq!(app.post_in_test_mode(path, "{}").await.code(), "INVALID_PHONE");
        assert_eq!(app.get(LIMITED).await.code(), "NOT_FOUND");
        assert_eq!(app.post("/v1/session/validate", "{}").await.code(), "MISSING_ACCESS_TOKEN");
    }
}

#[actix_web::test]
async fn send_and_verify_have_ceilings_of_their_own() {
    let app = TestApp::with(|ports| ports.ceiling = 1);
    assert_eq!(app.post("/v1/otp/send", "{}").await.code(), "INVALID_PHONE");
    assert_eq!(app.post("/v1/otp/verify", "{}").await.code(), "INVALID_PHONE");
    assert_eq!(app.post("/v1/otp/send", "{}").await.code(), "RATE_LIMITED");
    assert_eq!(app.post("/v1/otp/verify", "{}").await.code(), "RATE_LIMITED");
}
