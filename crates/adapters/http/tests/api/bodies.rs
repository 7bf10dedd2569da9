use crate::support::{Reply, TestApp};
use actix_web::http::Method;
use insta::assert_snapshot;

const VERIFY: &str = "/v1/otp/verify";

async fn verify(body: impl Into<Vec<u8>>) -> String {
    let app = TestApp::new();
    app.send(app.request(Method::POST, VERIFY).set_payload(body.into())).await.code()
}

#[actix_web::test]
async fn what_is_not_a_json_object_is_refused() {
    for body in [
        "x",
        "{",
        "[]",
        "[\"9876543210\",\"123456\"]",
        "null",
        "42",
        "\"9876543210\"",
        " ",
        "{}{}",
        "{} x",
        "{'phone':1}",
        "{\"phone\":}",
        "{\"phone\":\"9876543210\",}",
        "\u{feff}{}",
        "{\"phone\":\"\\ud800\"}",
    ] {
        assert_eq!(verify(body).await, "INVALID_REQUEST", "{body}");
    }
    assert_eq!(verify(b"{\"x\":\"\xff\"}".to_vec()).await, "INVALID_REQUEST");
}

#[actix_web::test]
async fn an_absent_body_lacks_its_first_field() {
    assert_eq!(verify("").await, "INVALID_PHONE");
    assert_eq!(verify("{}").await, "INVALID_PHONE");
    let app = TestApp::new();
    assert_eq!(app.post("/v1/session/logout", "").await.code(), "MISSING_ACCESS_TOKEN");
    assert_eq!(app.post("/v1/session/refresh", "").await.code(), "MISSING_REFRESH_TOKEN");
}

#[actix_web::test]
async fn a_field_of_any_wrong_shape_has_its_own_code_and_phone_comes_first() {
    for wrong in ["42", "4.5", "-1", "1e999", "true", "null", "\"\"", "[]", "{}", "[{\"a\":[1]}]"] {
        let body = format!(r#"{{"code": {wrong}, "phone": {wrong}}}"#);
        let expected = if wrong == "1e999" { "INVALID_REQUEST" } else { "INVALID_PHONE" };
        assert_eq!(verify(body).await, expected, "{wrong}");
        let body = format!(r#"{{"code": {wrong}, "phone": "9876543210"}}"#);
        let expected = if wrong == "1e999" { "INVALID_REQUEST" } else { "INVALID_OTP_CODE" };
        assert_eq!(verify(body).await, expected, "{wrong}");
        let app = TestApp::new();
        for (path, field) in [("logout", "access_token"), ("refresh", "refresh_token")] {
            let body = format!(r#"{{"{field}": {wrong}}}"#);
            let reply = app.post(&format!("/v1/session/{path}"), &body).await;
            let missing = format!("MISSING_{}", field.to_uppercase());
            let expected = if wrong == "1e999" { "INVALID_REQUEST" } else { &missing };
            assert_eq!(reply.code(), expected, "{wrong}");
        }
    }
}

#[actix_web::test]
async fn a_known_member_must_not_come_twice_and_an_unknown_one_may() {
    let twice = r#"{"phone":"9876543210","code":"1","code":"1"}"#;
    assert_eq!(verify(twice).await, "INVALID_REQUEST");
    let escaped = r#"{"phone":"9876543210","ph\u006fne":"9876543210"}"#;
    assert_eq!(verify(escaped).await, "INVALID_REQUEST");
    let unknown = r#"{"x":1,"x":[],"access_token":1,"access_token":2,"phone":"9876543210"}"#;
    assert_eq!(verify(unknown).await, "INVALID_OTP_CODE");
}

#[actix_web::test]
async fn depth_does_no_harm() {
    let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let unknown = format!(r#"{{"x":{},"phone":"9876543210"}}"#, deep(8_000));
    assert_eq!(verify(unknown).await, "INVALID_OTP_CODE");
    assert_eq!(verify(format!(r#"{{"phone":{}}}"#, deep(8_000))).await, "INVALID_PHONE");
    assert_eq!(verify("{\"a\":".repeat(3_000)).await, "INVALID_REQUEST");
}

#[actix_web::test]
async fn a_body_of_16_kib_is_read_and_one_byte_more_is_not() {
    let body = |length: usize| format!("{{\"x\":\"{}\"}}", "x".repeat(length - 8));
    assert_eq!(verify(body(16_384)).await, "INVALID_PHONE");
    assert_eq!(verify(body(16_385)).await, "PAYLOAD_TOO_LARGE");
    let app = TestApp::new();
    let declared = app.request(Method::POST, VERIFY).insert_header(("Content-Length", "99999999"));
    assert_snapshot!(app.send(declared).await.text(), @r#"
        413
        cache-control: no-store
        content-type: application/json
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"The body is too large.","code":"PAYLOAD_TOO_LARGE","request_id":"request-1"}
        "#);
    let beyond = "9".repeat(40);
    let beyond = app.request(Method::POST, VERIFY).insert_header(("Content-Length", beyond));
    assert_eq!(app.send(beyond).await.status, 413);
}

async fn declared_as(header: &'static str, value: &'static str) -> Reply {
    let app = TestApp::new();
    let request = app.request(Method::POST, VERIFY).insert_header((header, value));
    app.send(request.set_payload("{}")).await
}

#[actix_web::test]
async fn a_body_declared_as_something_else_is_refused() {
    assert_snapshot!(declared_as("Content-Type", "text/plain").await.text(), @r#"
        415
        cache-control: no-store
        content-type: application/json
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"The body must be JSON.","code":"UNSUPPORTED_MEDIA_TYPE","request_id":"request-1"}
        "#);
    for (header, value) in [
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Content-Type", "application/json; charset=latin1"),
        ("Content-Encoding", "gzip"),
    ] {
        assert_eq!(declared_as(header, value).await.status, 415, "{value}");
    }
    for (header, value) in [
        ("Content-Type", "application/json"),
        ("Content-Type", "application/json; charset=UTF-8"),
        ("Content-Type", "application/problem+json"),
        ("Content-Encoding", "identity"),
    ] {
        assert_eq!(declared_as(header, value).await.code(), "INVALID_PHONE", "{value}");
    }
}

#[actix_web::test]
async fn the_key_comes_before_the_body() {
    let request = actix_web::test::TestRequest::post().uri(VERIFY).set_payload("x".repeat(20_000));
    assert_eq!(TestApp::new().send(request).await.code(), "MISSING_API_KEY");
}
