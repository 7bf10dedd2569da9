//! The answers of the listener, and who gets them.

#![allow(clippy::unwrap_used, reason = "everything here runs inside tests")]

use actix_web::body::{self, MessageBody};
use actix_web::http::header::{ALLOW, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use actix_web::http::{Method, StatusCode};
use actix_web::test::{TestRequest, call_service, init_service};
use actix_web::web::Data;
use dwar_metrics::{
    Api, Counts, Exposition, ProgramInfo, Providers, Snapshot, SnapshotSource, Token, app,
};
use std::sync::Arc;

type Answer = (StatusCode, String, String);

struct Nothing;

impl SnapshotSource for Nothing {
    fn read(&self) -> Snapshot {
        Snapshot::default()
    }
}

async fn ask(token: &str, method: &str, path: &str, shown: Option<&str>) -> Answer {
    let api = Api { endpoints: Vec::new(), methods: vec!["GET"], refusals: Vec::new() };
    let about = ProgramInfo { version: "1".to_owned(), database: "memory", started_at: 2.0 };
    let exposition =
        Exposition::new(Arc::new(Counts::new(api, Providers::default())), Arc::new(Nothing), about);
    let app = init_service(app(Data::new(exposition), Data::new(Token::new(token)))).await;
    let method = Method::from_bytes(method.as_bytes()).unwrap();
    let mut request = TestRequest::with_uri(path).method(method);
    if let Some(shown) = shown {
        request = request.insert_header((AUTHORIZATION, shown));
    }
    let answer = call_service(&app, request.to_request()).await;
    let status = answer.status();
    let name = match status {
        StatusCode::UNAUTHORIZED => WWW_AUTHENTICATE,
        StatusCode::METHOD_NOT_ALLOWED => ALLOW,
        _ => CONTENT_TYPE,
    };
    let header = answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    let body = body::to_bytes(answer.into_body().boxed()).await.ok().unwrap();
    (status, header, String::from_utf8(body.to_vec()).unwrap())
}

#[actix_web::test]
async fn shows_the_metrics_to_a_get_and_a_head() {
    for method in ["GET", "HEAD"] {
        let (status, kind, text) = ask("", method, "/metrics", None).await;
        assert_eq!(status, StatusCode::OK);
        assert!(kind.starts_with("application/openmetrics-text; version=1.0.0"), "{kind}");
        assert!(text.contains("dwar_build_info{version=\"1\",database=\"memory\"} 1\n"), "{text}");
        assert!(text.contains("process_start_time_seconds 2.0\n") && text.ends_with("# EOF\n"));
    }
}

#[actix_web::test]
async fn has_one_path_and_two_methods() {
    for path in ["/", "/metrics/", "/metricsx", "/v1/otp/send", "/healthz"] {
        assert_eq!(ask("", "GET", path, None).await.0, StatusCode::NOT_FOUND, "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "ODD"] {
        let (status, allow, _) = ask("", method, "/metrics", None).await;
        assert_eq!((status, allow.as_str()), (StatusCode::METHOD_NOT_ALLOWED, "GET, HEAD"));
    }
}

#[actix_web::test]
async fn tells_nothing_without_the_token() {
    for shown in [None, Some("Bearer wrong"), Some("Bearer "), Some("Basic s3cret"), Some("s3cret")]
    {
        for (method, path) in
            [("GET", "/metrics"), ("HEAD", "/metrics"), ("POST", "/"), ("GET", "/x")]
        {
            let (status, challenge, text) = ask("s3cret", method, path, shown).await;
            assert_eq!((status, text.as_str()), (StatusCode::UNAUTHORIZED, ""), "{shown:?}");
            assert!(challenge.starts_with("Bearer "));
        }
    }
    assert_eq!(ask("s3cret", "GET", "/metrics", Some("Bearer s3cret")).await.0, StatusCode::OK);
    assert_eq!(ask("s3cret", "GET", "/x", Some("Bearer s3cret")).await.0, StatusCode::NOT_FOUND);
}
