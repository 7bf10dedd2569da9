use crate::support::TestApp;
use dwar_http::{InProcess, InProcessAnswer, InProcessRequest, NoAnswer};
use dwar_kernel::{KeyMode, ProjectId};
use dwar_project::Project;
use dwar_session::Claims;
use dwar_testkit::{ClearVault, START};

/// The API within this process, its only project, and the same API for clients.
struct Inside {
    api: InProcess,
    project: ProjectId,
    app: TestApp,
}

impl Inside {
    fn with(general: u32) -> Self {
        let mut known = None;
        let app = TestApp::with(|ports| {
            ports.general = general;
            let project: Project = ports.project.clone();
            known = Some(project.id);
            let ids = [ports.fixtures.id(), ports.fixtures.id()];
            let keys = [&ports.live, &ports.test].into_iter().zip(ids);
            let keys: Vec<_> = keys.map(|(key, id)| key.record(id, &ClearVault, START)).collect();
            let line = ports.fixtures.line(project.id.in_mode(KeyMode::Test));
            let session = ports.fixtures.session(&line, ports.fixtures.id());
            let claims = Claims::of(&session);
            ports.signer.expect_verify().returning(move |_, _| Ok(Ok(claims.clone())));
            ports.session = Some(session);
            ports.sessions.expect_revoke().returning(|_, _, _| Ok(true));
            ports
                .projects
                .expect_keys()
                .returning(move |id| Ok(if id == project.id { keys.clone() } else { Vec::new() }));
            ports.inbox.expect_messages().returning(|_, _, _| Ok(Vec::new()));
        });
        let api = InProcess::start(app.api.clone()).unwrap();
        Self { api, project: known.unwrap(), app }
    }

    async fn ask(&self, method: &str, target: &str, body: &str) -> InProcessAnswer {
        let request = request(method, target, body);
        self.api.call(self.project, request).await.unwrap()
    }
}

fn request(method: &str, target: &str, body: &str) -> InProcessRequest {
    let (method, target) = (method.to_owned(), target.to_owned());
    InProcessRequest { method, target, body: body.as_bytes().to_vec() }
}

fn code(answer: &InProcessAnswer) -> String {
    let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    body["code"].as_str().unwrap_or_default().to_owned()
}

#[actix_web::test]
async fn asks_the_very_routes_in_test_mode_without_a_key() {
    let inside = Inside::with(10);
    // Live keys have no sandbox, so this is test mode.
    let inbox = inside.ask("GET", "/v1/sandbox/messages?phone=9876543210", "").await;
    assert_eq!((inbox.status, inbox.body.as_slice()), (200, br#"{"messages":[]}"#.as_slice()));
    assert!(inbox.headers.iter().any(|(name, _)| name == "x-request-id"));
    let refused = inside.ask("POST", "/v1/otp/send", r#"{"phone":"1"}"#).await;
    assert_eq!((refused.status, code(&refused)), (422, "INVALID_PHONE".to_owned()));
    assert_eq!(code(&inside.ask("PUT", "/v1/otp/send", "").await), "METHOD_NOT_ALLOWED");
}

/// Calls about a session find their caller in another way than other calls.
#[actix_web::test]
async fn asks_about_sessions_without_a_key() {
    let inside = Inside::with(10);
    let token = r#"{"access_token":"a.b.c"}"#;
    let valid = inside.ask("POST", "/v1/session/validate", token).await;
    assert_eq!(valid.status, 200, "{valid:?}");
    let wrong = inside.ask("POST", "/v1/session/refresh", r#"{"refresh_token":"no"}"#).await;
    assert_eq!((wrong.status, code(&wrong)), (401, "SESSION_EXPIRED".to_owned()));
    assert_eq!(inside.ask("POST", "/v1/session/logout", token).await.status, 200);
}

#[actix_web::test]
async fn counts_as_the_test_key_does() {
    let inside = Inside::with(1);
    let target = "/v1/sandbox/messages?phone=9876543210";
    assert_eq!(inside.ask("GET", target, "").await.status, 200);
    let refused = inside.ask("GET", target, "").await;
    assert_eq!((refused.status, code(&refused)), (429, "RATE_LIMITED".to_owned()));
}

#[actix_web::test]
async fn a_project_that_is_not_there_has_no_caller() {
    let inside = Inside::with(10);
    let stranger = "00000000-0000-7000-8000-00000000dead".parse().unwrap();
    let asked = request("GET", "/v1/sandbox/messages?phone=9876543210", "");
    let answer = inside.api.call(stranger, asked).await.unwrap();
    assert_eq!((answer.status, code(&answer)), (401, "INVALID_API_KEY".to_owned()));
}

#[actix_web::test]
async fn clients_still_need_their_key_while_it_runs() {
    let inside = Inside::with(10);
    inside.ask("GET", "/v1/sandbox/messages?phone=9876543210", "").await;
    let asked = actix_web::test::TestRequest::with_uri("/v1/sandbox/messages?phone=9876543210");
    assert_eq!(inside.app.send(asked).await.code(), "MISSING_API_KEY");
}

#[actix_web::test]
async fn what_is_no_request_is_not_asked() {
    let inside = Inside::with(10);
    for (method, target) in [
        ("GE T", "/v1"),
        ("GET", ""),
        ("GET", "v1"),
        ("GET", "http://elsewhere/v1"),
        ("GET", "/ /"),
    ] {
        let answer = inside.api.call(inside.project, request(method, target, "")).await;
        assert!(matches!(answer, Err(NoAnswer::NotARequest)), "{method} {target}");
    }
}
