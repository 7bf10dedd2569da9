//! The endpoints that proxies and frameworks use instead of validate.

use crate::support::{REQUEST_ID, Reply, TestApp};
use actix_web::http::Method;
use actix_web::http::header::HeaderValue;
use actix_web::test::TestRequest;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dwar_kernel::{IdentityId, KeyMode, StoreError};
use dwar_session::{Claims, InvalidToken, Session};
use insta::assert_snapshot;
use serde_json::{Value, json};

const FORWARD_AUTH: &str = "/v1/session/forward-auth";
const INTROSPECT: &str = "/oauth2/introspect";
const ISSUER: &str = "https://otp.example.com";

/// A service with a live session whose current access token is `good`; other tokens are invalid.
fn open() -> TestApp {
    TestApp::with(|ports| {
        let line = ports.fixtures.line(ports.project.id.in_mode(KeyMode::Live));
        let session: Session = ports.fixtures.session(&line, ports.fixtures.id::<IdentityId>());
        let claims = Claims::of(&session);
        ports.session = Some(session);
        ports.signer.expect_verify().returning(move |presented, _| {
            let good = presented.token.expose() == "good";
            Ok(if good { Ok(claims.clone()) } else { Err(InvalidToken) })
        });
        ports.signer.expect_issuer().returning(|_| Some(ISSUER.to_owned()));
    })
}

async fn pass(app: &TestApp, method: Method, path: &str, authorization: &str) -> Reply {
    app.send(app.request(method, path).insert_header(("Authorization", authorization))).await
}

/// Introspects a token with this `Authorization` and no other key.
async fn introspect_as(app: &TestApp, authorization: &str, form: &str) -> Reply {
    let request = TestRequest::post().uri(INTROSPECT).insert_header(REQUEST_ID);
    let request = request.insert_header(("Authorization", authorization));
    app.send(request.set_payload(form.to_owned())).await
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

#[actix_web::test]
async fn a_proxy_is_told_whose_session_it_is() {
    let reply = pass(&open(), Method::GET, FORWARD_AUTH, "Bearer good").await;
    assert_snapshot!(reply.text(), @r#"
        200
        cache-control: no-store
        ratelimit-limit: 3000
        ratelimit-remaining: 2999
        ratelimit-reset: 60
        x-content-type-options: nosniff
        x-dwar-identity: 01a3185c-507b-7836-b25e-7adadfc12fbc
        x-dwar-session: 01a3185c-507b-7d32-832d-c651501b9d27
        x-request-id: request-1
        "#);
}

#[actix_web::test]
async fn no_method_and_no_path_below_makes_a_difference() {
    let app = open();
    let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"];
    let below =
        ["", "/", "/a", "/a/b/", "/a%2Fb", "/%ff", "/%0A", "/..%2f", "/a?b=c&d", "?x=%zz", "//a"];
    for method in methods {
        for below in below {
            let path = format!("{FORWARD_AUTH}{below}");
            let method = Method::from_bytes(method.as_bytes()).unwrap();
            let good = pass(&app, method.clone(), &path, "Bearer good").await;
            assert_eq!(good.status, 200, "{method} {path}: {}", good.body);
            assert!(good.header("x-dwar-identity").is_some(), "{method} {path}");
            let bad = pass(&app, method.clone(), &path, "Bearer bad").await;
            assert_eq!(bad.status, 401, "{method} {path}");
        }
    }
    for other in ["-x", "%2Fa", "/.."] {
        let path = format!("{FORWARD_AUTH}{other}");
        let reply = pass(&app, Method::GET, &path, "Bearer good").await;
        let expected = if other == "/.." { 200 } else { 404 };
        assert_eq!(reply.status, expected, "{path}");
    }
}

#[actix_web::test]
async fn without_a_good_token_a_proxy_gets_a_401_that_says_why() {
    let app = open();
    let none = app.get(FORWARD_AUTH).await;
    assert_snapshot!(none.text(), @r#"
        401
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 3000
        ratelimit-remaining: 2999
        ratelimit-reset: 60
        www-authenticate: Bearer realm="v1"
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"The Authorization header has no bearer token.","code":"INVALID_ACCESS_TOKEN","request_id":"request-1"}
        "#);
    let challenge = |reply: &Reply| reply.header("www-authenticate").unwrap().to_owned();
    for nothing in
        ["", "Bearer", "Bearer ", "Basic Z29vZDpnb29k", "good", "Bearer\tgood", "Bearergood"]
    {
        let reply = pass(&app, Method::GET, FORWARD_AUTH, nothing).await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (401, "INVALID_ACCESS_TOKEN"),
            "{nothing}"
        );
        assert_eq!(challenge(&reply), r#"Bearer realm="v1""#, "{nothing}");
    }
    for bad in ["Bearer bad", "Bearer good good", "Bearer good,", "Bearer \"good\"", "Bearer good="]
    {
        let reply = pass(&app, Method::GET, FORWARD_AUTH, bad).await;
        assert_eq!((reply.status, reply.code().as_str()), (401, "INVALID_ACCESS_TOKEN"), "{bad}");
        assert_eq!(challenge(&reply), r#"Bearer realm="v1", error="invalid_token""#, "{bad}");
    }
    for good in ["bearer good", "BEARER good", "Bearer   good", "Bearer good "] {
        assert_eq!(pass(&app, Method::GET, FORWARD_AUTH, good).await.status, 200, "{good}");
    }
    let twice =
        app.request(Method::GET, FORWARD_AUTH).insert_header(("Authorization", "Bearer good"));
    let twice = app.send(twice.append_header(("Authorization", "Bearer good"))).await;
    assert_eq!((twice.status, twice.code().as_str()), (401, "INVALID_ACCESS_TOKEN"));
    let bytes = HeaderValue::from_bytes(b"Bearer \xff").unwrap();
    let bytes = app.request(Method::GET, FORWARD_AUTH).insert_header(("Authorization", bytes));
    assert_eq!(app.send(bytes).await.status, 401);
}

#[actix_web::test]
async fn key_limit_and_outage_come_before_the_token() {
    let bare = TestRequest::with_uri(FORWARD_AUTH).insert_header(("Authorization", "Bearer good"));
    assert_eq!(open().send(bare).await.code(), "MISSING_API_KEY");
    let limited = TestApp::with(|ports| ports.validate = 0);
    for path in [FORWARD_AUTH, "/v1/session/forward-auth/a"] {
        let reply = limited.get(path).await;
        assert_eq!((reply.status, reply.code().as_str()), (429, "RATE_LIMITED"));
        assert_eq!(reply.header("retry-after"), Some("60"));
    }
    assert_eq!(limited.post(INTROSPECT, "").await.code(), "RATE_LIMITED");
    let down = TestApp::with(|ports| {
        let down = || StoreError::Unavailable("down".to_owned());
        ports.sessions.expect_find_key_and_session().returning(move |_, _| Err(down()));
    });
    for reply in [down.get(FORWARD_AUTH).await, down.post(INTROSPECT, "token=good").await] {
        assert_eq!((reply.status, reply.code().as_str()), (503, "SERVICE_UNAVAILABLE"));
        assert_eq!(reply.header("retry-after"), Some("2"));
    }
}

#[actix_web::test]
async fn an_active_token_is_described() {
    let app = open();
    let reply = app.post(INTROSPECT, "token=good&token_type_hint=access_token").await;
    assert_snapshot!(reply.text(), @r#"
        200
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 3000
        ratelimit-remaining: 2999
        ratelimit-reset: 60
        x-content-type-options: nosniff
        x-request-id: request-1

        {"active":true,"sub":"01a3185c-507b-7836-b25e-7adadfc12fbc","client_id":"01a3185c-507b-770d-b259-e4e1cb631c66","sid":"01a3185c-507b-7d32-832d-c651501b9d27","iat":1800000000,"exp":1800000900,"iss":"https://otp.example.com","aud":"01a3185c-507b-770d-b259-e4e1cb631c66","token_type":"Bearer"}
        "#);
    let body: Value = serde_json::from_str(&reply.body).unwrap();
    let validated = app.post("/v1/session/validate", r#"{"access_token":"good"}"#).await;
    let validated: Value = serde_json::from_str(&validated.body).unwrap();
    assert_eq!(body["sub"], validated["identity_id"]);
    assert_eq!(body["sid"], validated["session_id"]);
    assert_eq!(body["exp"], 1_800_000_900);
}

#[actix_web::test]
async fn whatever_is_not_valid_is_not_active_and_that_is_all() {
    let app = open();
    for token in ["bad", "a.b.c", "%20good", "good%20", "+good", "g%00ood", "svc_rt_1", "é"] {
        let reply = app.post(INTROSPECT, &format!("token={token}")).await;
        assert_eq!((reply.status, reply.body.as_str()), (200, r#"{"active":false}"#), "{token}");
        assert_eq!(reply.header("cache-control"), Some("no-store"));
    }
}

#[actix_web::test]
async fn the_key_is_the_password_of_basic_whoever_the_user_is() {
    let app = open();
    let live = app.live.clone();
    for user in ["", "dwar", "a%3Ab", "प"] {
        let reply = introspect_as(&app, &basic(user, &live), "token=good").await;
        assert_eq!(reply.status, 200, "{user}: {}", reply.body);
        assert!(reply.body.starts_with(r#"{"active":true"#), "{}", reply.body);
    }
    // Form-encoded before it is joined, as RFC 6749 requires.
    let encoded = live.replace('_', "%5F");
    assert_eq!(introspect_as(&app, &basic("a", &encoded), "token=good").await.status, 200);
    assert_eq!(
        introspect_as(&app, &basic("a", &live).replace("Basic", "basic"), "").await.status,
        400
    );
    let other = basic("a", &app.test.clone());
    let of_test = introspect_as(&app, &other, "token=good").await;
    assert_eq!(of_test.status, 200);
}

#[actix_web::test]
async fn another_key_is_asked_for_by_basic() {
    let app = open();
    let refused = introspect_as(&app, &basic("dwar", "svc_live_nobody"), "token=good").await;
    assert_snapshot!(refused.text(), @r#"
        401
        cache-control: no-store
        content-type: application/json
        www-authenticate: Basic realm="v1"
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"The API key is not recognised.","code":"INVALID_API_KEY","request_id":"request-1"}
        "#);
    let missing = app.send(TestRequest::post().uri(INTROSPECT).set_payload("token=good")).await;
    assert_eq!((missing.status, missing.code().as_str()), (401, "MISSING_API_KEY"));
    let live = app.live.clone();
    let [swapped, padded] = [basic(&live, ""), format!("{}=", basic("a", &live))];
    for wrong in ["Basic", "Basic %", "Basic Og==", &swapped, &padded, &format!("Bearer {live}")] {
        let reply = introspect_as(&app, wrong, "token=good").await;
        assert_eq!(reply.status, 401, "{wrong}");
        assert_eq!(reply.header("www-authenticate"), Some(r#"Basic realm="v1""#), "{wrong}");
    }
    // With two keys, one would have to be ignored.
    let both = app.request(Method::POST, INTROSPECT).set_payload("token=good");
    let both = both.insert_header(("Authorization", basic("a", &live)));
    assert_eq!(app.send(both).await.code(), "INVALID_API_KEY");
    // A person's token is not a client's key.
    let beside = app.request(Method::POST, INTROSPECT).set_payload("token=good");
    let beside = beside.insert_header(("Authorization", "Bearer good"));
    assert_eq!(app.send(beside).await.status, 200);
}

#[actix_web::test]
async fn a_form_is_read_as_oauth_has_it() {
    let app = open();
    for good in [
        "token=good",
        "&token=good&",
        "token=%67ood&scope=",
        "a=1&token=good&b=2",
        "tokens=bad&token=good",
    ] {
        let reply = app.post(INTROSPECT, good).await;
        assert!(reply.body.starts_with(r#"{"active":true"#), "{good}: {}", reply.body);
    }
    for bad in [
        "",
        "token",
        "token=",
        "tok%65n=",
        "Token=good",
        "token=good&token=good",
        "token=good&tok%65n=bad",
        "token=good&scope=a&scope=b",
        "token=%zz",
        "token=%ff",
        r#"{"token":"good"}"#,
    ] {
        let reply = app.post(INTROSPECT, bad).await;
        assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_REQUEST"), "{bad}");
    }
    let query = format!("{INTROSPECT}?token=good");
    assert_eq!(app.post(&query, "").await.code(), "INVALID_REQUEST", "a query is not a form");
    assert_eq!(app.post(INTROSPECT, &"a".repeat(17 * 1_024)).await.code(), "PAYLOAD_TOO_LARGE");
    let typed = |kind: &'static str| {
        let request = app.request(Method::POST, INTROSPECT).set_payload("token=good");
        app.send(request.insert_header(("Content-Type", kind)))
    };
    assert_eq!(typed("application/x-www-form-urlencoded; charset=UTF-8").await.status, 200);
    for other in ["application/json", "multipart/form-data; boundary=a", "text/plain"] {
        let reply = typed(other).await;
        assert_eq!((reply.status, reply.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"));
        assert!(reply.body.contains("x-www-form-urlencoded"), "{}", reply.body);
    }
    let get = app.get(INTROSPECT).await;
    assert_eq!((get.status, get.header("allow")), (405, Some("POST")));
}

#[actix_web::test]
async fn a_broken_store_is_no_inactive_token() {
    let app = TestApp::with(|ports| {
        let line = ports.fixtures.line(ports.project.id.in_mode(KeyMode::Live));
        ports.session = Some(ports.fixtures.session(&line, ports.fixtures.id::<IdentityId>()));
        let broken = || StoreError::Failed("broken".into());
        ports.signer.expect_verify().returning(move |_, _| Err(broken()));
    });
    let reply = app.post(INTROSPECT, "token=good").await;
    assert_eq!((reply.status, reply.code().as_str()), (500, "INTERNAL_ERROR"));
    let reply = pass(&app, Method::GET, FORWARD_AUTH, "Bearer good").await;
    assert_eq!(reply.status, 500);
    assert_eq!(json!(reply.code()), "INTERNAL_ERROR");
}
