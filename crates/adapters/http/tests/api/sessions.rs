use crate::support::TestApp;
use dwar_kernel::{IdentityId, KeyMode, StoreError};
use dwar_session::{Claims, InvalidToken, RefreshToken, RefreshTokenId, Rotation, Session};
use dwar_testkit::Fixtures;
use insta::assert_snapshot;

const TOKEN: &str = r#"{"access_token":"a.b.c"}"#;

/// A session of the caller that accepts any access token as its current one.
fn open(known: bool) -> (TestApp, String) {
    let mut refresh = String::new();
    let app = TestApp::with(|ports| {
        let session = session(&ports.fixtures, ports.project.id);
        let Session { project_mode, id, .. } = session;
        let id = RefreshTokenId { project_mode, session: id, generation: 0 };
        let fixtures = &ports.fixtures;
        let token = RefreshToken::generate(id, &fixtures.vault, &fixtures.entropy);
        refresh = format!(r#"{{"refresh_token":"{}"}}"#, token.expose());
        let claims = Claims::of(&session);
        ports
            .signer
            .expect_verify()
            .returning(move |_, _| Ok(if known { Ok(claims.clone()) } else { Err(InvalidToken) }));
        ports.session = known.then_some(session);
        ports.sessions.expect_revoke().returning(|_, _, _| Ok(true));
        ports.sessions.expect_rotate().returning(|_, _, _, _, _| Ok(Some(Rotation::Rotated)));
        ports.sign_anything();
    });
    (app, refresh)
}

fn session(fixtures: &Fixtures, project: dwar_kernel::ProjectId) -> Session {
    let line = fixtures.line(project.in_mode(KeyMode::Live));
    fixtures.session(&line, fixtures.id::<IdentityId>())
}

#[actix_web::test]
async fn validate_answers_as_decided() {
    let (app, _) = open(true);
    assert_snapshot!(app.post("/v1/session/validate", TOKEN).await.text(), @r#"
        200
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 3000
        ratelimit-remaining: 2999
        ratelimit-reset: 60
        x-content-type-options: nosniff
        x-request-id: request-1

        {"valid":true,"session_id":"01a3185c-507b-7d32-832d-c651501b9d27","identity_id":"01a3185c-507b-7836-b25e-7adadfc12fbc","issued_at":"2027-01-15T08:00:00.000Z","expires_at":"2027-01-15T08:15:00.000Z","expires_in":900}
        "#);
}

#[actix_web::test]
async fn refresh_answers_as_verify_does() {
    let (app, refresh) = open(true);
    assert_snapshot!(app.post("/v1/session/refresh", &refresh).await.body, @r#"{"access_token":"access-token","refresh_token":"svc_rt_01a3185c507b7d32832dc651501b9d27000000016d129b6e30be56a3f06d2e2799622e81c45904751a0f4a2a0e58b07ae1c94b8db0e7cc4c30a377a3279211dc8b7531f8","token_type":"Bearer","expires_in":900,"refresh_expires_in":2592000,"session_id":"01a3185c-507b-7d32-832d-c651501b9d27","identity_id":"01a3185c-507b-7836-b25e-7adadfc12fbc"}"#);
}

#[actix_web::test]
async fn logout_answers_as_decided() {
    let (app, _) = open(true);
    assert_snapshot!(app.post("/v1/session/logout", TOKEN).await.body, @r#"{"revoked":true}"#);
}

#[actix_web::test]
async fn a_token_that_does_not_count_is_refused_with_a_challenge() {
    let (app, refresh) = open(false);
    assert_snapshot!(app.post("/v1/session/validate", TOKEN).await.text(), @r#"
        401
        cache-control: no-store
        content-type: application/json
        ratelimit-limit: 3000
        ratelimit-remaining: 2999
        ratelimit-reset: 60
        www-authenticate: Bearer realm="v1", error="invalid_token"
        x-content-type-options: nosniff
        x-request-id: request-1

        {"error":"The access token is invalid or expired.","code":"INVALID_ACCESS_TOKEN","request_id":"request-1"}
        "#);
    assert_eq!(app.post("/v1/session/logout", TOKEN).await.code(), "INVALID_ACCESS_TOKEN");
    for body in [refresh.as_str(), r#"{"refresh_token":"nonsense"}"#] {
        let reply = app.post("/v1/session/refresh", body).await;
        assert_eq!((reply.status, reply.code().as_str()), (401, "SESSION_EXPIRED"));
        assert!(reply.header("www-authenticate").unwrap().starts_with("Bearer "));
    }
}

#[actix_web::test]
async fn a_logout_that_may_have_failed_is_no_success() {
    let app = TestApp::with(|ports| {
        let down = || StoreError::Unavailable("down".to_owned());
        ports.session = Some(session(&ports.fixtures, ports.project.id));
        ports.signer.expect_verify().returning(move |_, _| Err(down()));
    });
    let reply = app.post("/v1/session/logout", TOKEN).await;
    assert_eq!((reply.status, reply.code().as_str()), (503, "SERVICE_UNAVAILABLE"));
}

#[actix_web::test]
async fn a_malformed_idempotency_key_is_refused_on_refresh_too() {
    let (app, refresh) = open(true);
    let request = app.request(actix_web::http::Method::POST, "/v1/session/refresh");
    let request = request.insert_header(("Idempotency-Key", "")).set_payload(refresh);
    assert_eq!(app.send(request).await.code(), "INVALID_REQUEST");
}
