use crate::support::TestApp;
use actix_web::http::Method;
use actix_web::test::TestRequest;
use dwar_otp::{
    Receipt, ReceiptSource, Report, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use std::sync::{Arc, Mutex};

/// A provider that authenticates with a header and reports the body as a reference.
struct Vendor;

const LONGEST: usize = 3 * 1_024 * 1_024;

impl Vendor {
    fn judge(head: &WebhookHead) -> Result<(), WebhookError> {
        let proof = head.header("x-proof").filter(|proof| *proof == "secret");
        proof.map(|_| ()).ok_or(WebhookError::Unauthenticated)
    }
}

impl ReceiptSource for Vendor {
    fn provider(&self) -> String {
        "vendor".to_owned()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        Self::judge(head)?;
        Ok(WebhookAdmission { longest_body: LONGEST, proven: true })
    }

    fn receipts(&self, call: &WebhookCall) -> Result<Vec<Receipt>, WebhookError> {
        Self::judge(&call.head)?;
        assert!(call.head.path_and_query.starts_with("/webhooks/vendor"));
        let reference = String::from_utf8(call.body.clone());
        let provider_ref = reference.map_err(|_| WebhookError::Unreadable)?;
        let provider = self.provider();
        Ok(vec![Receipt { provider, provider_ref, report: Report::Delivered }])
    }

    fn handshake(&self, head: &WebhookHead) -> Result<String, WebhookError> {
        let challenge = head.parameter("challenge").ok_or(WebhookError::Unauthenticated)?;
        Ok(challenge.to_owned())
    }
}

/// The API with that provider, and the recorded references.
fn with_vendor() -> (TestApp, Arc<Mutex<Vec<String>>>) {
    let kept: Arc<Mutex<Vec<String>>> = Arc::default();
    let record = Arc::clone(&kept);
    let app = TestApp::with(|ports| {
        ports.sources.insert("vendor".to_owned(), Arc::new(Vendor));
        ports.receipts.expect_keep().returning(move |receipts| {
            let references = receipts.into_iter().map(|kept| kept.receipt.provider_ref);
            record.lock().unwrap().extend(references);
            Ok(())
        });
    });
    (app, kept)
}

fn post(path: &str, body: &[u8]) -> TestRequest {
    let request = TestRequest::with_uri(path).method(Method::POST).set_payload(body.to_vec());
    request.insert_header(("X-Proof", "secret"))
}

#[actix_web::test]
async fn a_providers_report_is_on_record_when_it_is_answered() {
    let (app, kept) = with_vendor();
    let reply = app.send(post("/webhooks/vendor", b"message-1")).await;
    assert_eq!((reply.status, reply.body.as_str()), (200, ""));
    assert_eq!(*kept.lock().unwrap(), ["message-1"]);
    // Batches are longer than clients may send.
    assert_eq!(app.send(post("/webhooks/vendor", &vec![b'x'; LONGEST])).await.status, 200);
}

#[actix_web::test]
async fn whoever_is_not_the_provider_is_turned_away() {
    let (app, kept) = with_vendor();
    let unproven = TestRequest::with_uri("/webhooks/vendor").method(Method::POST);
    for (request, status, code) in [
        (unproven.set_payload("x"), 401, "WEBHOOK_UNAUTHENTICATED"),
        (post("/webhooks/other", b"x"), 404, "NOT_FOUND"),
        (post("/webhooks/vendor", b"\xff"), 400, "INVALID_REQUEST"),
        (post("/webhooks/vendor", &vec![b'x'; LONGEST + 1]), 413, "PAYLOAD_TOO_LARGE"),
        (TestRequest::with_uri("/webhooks/vendor").method(Method::HEAD), 405, "METHOD_NOT_ALLOWED"),
        (TestRequest::with_uri("/webhooks/vendor").method(Method::PUT), 405, "METHOD_NOT_ALLOWED"),
        (TestRequest::with_uri("/webhooks/vendor"), 401, "WEBHOOK_UNAUTHENTICATED"),
    ] {
        let reply = app.send(request).await;
        assert_eq!((reply.status, reply.code().as_str()), (status, code));
    }
    assert!(kept.lock().unwrap().is_empty());
}

#[actix_web::test]
async fn a_handshake_gives_the_challenge_back() {
    let (app, _) = with_vendor();
    let reply = app.send(TestRequest::with_uri("/webhooks/vendor?challenge=a%20b")).await;
    assert_eq!((reply.status, reply.body.as_str()), (200, "a b"));
}
