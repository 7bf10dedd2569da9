use super::*;
use crate::HttpGateway;
use crate::tests::contract::{client, survives_a_broken_provider, to};
use crate::tests::fake_vendor::{FakeVendor, Play};
use dwar_otp::{Gateway, Outcome, Receipt, ReceiptSource};
use serde_json::json;

const ID: &str = "3562707498794989059-328736121207676738";

fn account(base_url: String) -> Gupshup {
    Gupshup {
        base_url: base_url.parse().unwrap(),
        user_id: "2000000001".to_owned(),
        password: Secret::new("p&s3cret=w rd"),
        sender: Some("ACMEIN".to_owned()),
        entity_id: "1601100000000000001".to_owned(),
        template_id: "1007000000000000001".to_owned(),
        webhook_token: Secret::new("s3cret"),
    }
}

fn gateway(base_url: String, client: &HttpClient) -> HttpGateway<Gupshup> {
    HttpGateway::new(account(base_url), client.clone())
}

fn accepted() -> Outcome {
    Outcome::Accepted { provider_ref: Some(ID.to_owned()), awaits_receipt: true }
}

fn success() -> Value {
    json!({"response": {"id": ID, "phone": "919876543210", "details": "", "status": "success"}})
}

fn fields(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn sends_the_text_with_its_dlt_registration_as_a_form() {
    let vendor = FakeVendor::start(Play::json(200, &success())).await;
    let outcome = gateway(vendor.base_url(), &client()).deliver(to(Channel::Sms)).await;
    assert_eq!(outcome, accepted());
    let request = vendor.only_request();
    assert_eq!((&*request.method, &*request.target), ("POST", "/GatewayAPI/rest"));
    assert_eq!(request.header("content-type"), "application/x-www-form-urlencoded");
    assert_eq!(
        request.form(),
        fields(&[
            ("method", "SendMessage"),
            ("v", "1.1"),
            ("format", "json"),
            ("auth_scheme", "plain"),
            ("userid", "2000000001"),
            ("password", "p&s3cret=w rd"),
            ("send_to", "919876543210"),
            ("msg", crate::tests::fixtures::TEXT),
            ("msg_type", "TEXT"),
            ("principalEntityId", "1601100000000000001"),
            ("dltTemplateId", "1007000000000000001"),
            ("mask", "ACMEIN"),
        ])
    );
}

#[tokio::test]
async fn sends_a_projects_own_template_and_other_scripts() {
    let vendor = FakeVendor::start(Play::json(200, &success())).await;
    let mut account = account(vendor.base_url());
    (account.sender, account.webhook_token) = (None, Secret::default());
    let mut message = to(Channel::Sms);
    message.template_id = Some("1007000000000000002".to_owned());
    message.text = "012345 आपका कोड है & बस=".to_owned();
    let outcome = HttpGateway::new(account, client()).deliver(message).await;
    let provider_ref = Some(ID.to_owned());
    assert_eq!(outcome, Outcome::Accepted { provider_ref, awaits_receipt: false });
    let form = vendor.only_request().form();
    for (name, value) in [
        ("msg", "012345 आपका कोड है & बस="),
        ("msg_type", "Unicode_Text"),
        ("dltTemplateId", "1007000000000000002"),
    ] {
        let found: Vec<_> = form.iter().filter(|(known, _)| known == name).collect();
        assert_eq!(found, [&(name.to_owned(), value.to_owned())]);
    }
    assert!(!form.iter().any(|(name, _)| name == "mask"));
}

#[tokio::test]
async fn understands_text_answers_too() {
    let client = client();
    for (body, expected) in [
        (format!("success | 919876543210 | {ID}"), accepted()),
        (format!("success|919876543210|{ID}\n"), accepted()),
        (
            "success | 919876543210 | ".to_owned(),
            Outcome::Accepted { provider_ref: None, awaits_receipt: false },
        ),
        ("error | 102 | Authentication failed".to_owned(), Outcome::Refused(Reason::ProviderAuth)),
        ("error".to_owned(), Outcome::Refused(Reason::ProviderRefused)),
        ("succes | 1 | 2".to_owned(), Outcome::Refused(Reason::Unknown)),
    ] {
        let vendor = FakeVendor::start(Play::text(200, "text/plain", &body)).await;
        let outcome = gateway(vendor.base_url(), &client).deliver(to(Channel::Sms)).await;
        assert_eq!(outcome, expected, "{body}");
    }
}

#[tokio::test]
async fn understands_every_error_whatever_the_http_status() {
    let client = client();
    for (code, reason) in [
        ("102", Reason::ProviderAuth),
        ("103", Reason::ProviderAuth),
        ("104", Reason::ProviderAuth),
        ("105", Reason::RejectedNumber),
        ("108", Reason::TemplateRejected),
        ("100", Reason::ProviderRefused),
        ("101", Reason::ProviderRefused),
        ("106", Reason::ProviderRefused),
        ("", Reason::ProviderRefused),
        (ID, Reason::ProviderRefused),
    ] {
        let body = json!({"response": {"id": code, "phone": "", "details": "", "status": "error"}});
        for status in [200, 400] {
            let vendor = FakeVendor::start(Play::json(status, &body)).await;
            let outcome = gateway(vendor.base_url(), &client).deliver(to(Channel::Sms)).await;
            assert_eq!(outcome, Outcome::Refused(reason), "{status} {code}");
        }
    }
    let vendor = FakeVendor::start(Play::json(503, &success())).await;
    let outcome = gateway(vendor.base_url(), &client).deliver(to(Channel::Sms)).await;
    assert_eq!(outcome, Outcome::Refused(Reason::ProviderUnavailable), "the status wins");
}

#[tokio::test]
async fn survives_everything_a_broken_provider_does() {
    survives_a_broken_provider(Channel::Sms, gateway).await;
}

#[tokio::test]
async fn refuses_whatsapp_without_a_call() {
    let vendor = FakeVendor::start(Play::json(200, &success())).await;
    let outcome = gateway(vendor.base_url(), &client()).deliver(to(Channel::Whatsapp)).await;
    assert_eq!(outcome, Outcome::Refused(Reason::ProviderUnavailable));
    assert!(vendor.requests().is_empty());
}

#[test]
fn hides_its_secrets_from_debug() {
    let shown = format!("{:?}", account("http://127.0.0.1:9".to_owned()));
    assert!(!shown.contains("s3cret"), "{shown}");
}

fn call(query: &[(&str, &str)], body: &str) -> WebhookCall {
    WebhookCall {
        head: WebhookHead {
            path_and_query: "/webhooks/gupshup".to_owned(),
            query: fields(query),
            headers: Vec::new(),
        },
        body: body.as_bytes().to_vec(),
    }
}

fn receipt(report: Report) -> Receipt {
    Receipt { provider: "gupshup".to_owned(), provider_ref: ID.to_owned(), report }
}

#[test]
fn reads_every_status_and_cause_in_every_form() {
    let gateway = gateway("http://127.0.0.1:9".to_owned(), &client());
    let failed = |reason| Some(Report::Failed(reason));
    for (status, cause, code, report) in [
        ("SUCCESS", "SUCCESS", "000", Some(Report::Delivered)),
        ("DELIVERED", "SUCCESS", "000", Some(Report::Delivered)),
        ("delivered", "", "", Some(Report::Delivered)),
        ("FAIL", "", "", failed(Reason::Unknown)),
        ("FAILURE", "OTHER", "999", failed(Reason::Unknown)),
        ("UNDELIVERED", "ABSENT_SUBSCRIBER", "001", failed(Reason::Unknown)),
        ("FAILED", "", "001", failed(Reason::Unknown)),
        ("FAILED", "CALL_BARRED", "", failed(Reason::Blocked)),
        ("FAILED", "", "002", failed(Reason::Blocked)),
        ("FAILED", "UNKNOWN_SUBSCRIBER", "", failed(Reason::RejectedNumber)),
        ("FAILED", "", "003", failed(Reason::RejectedNumber)),
        ("FAILED", "SERVICE_DOWN", "", failed(Reason::ProviderUnavailable)),
        ("FAILED", "", "004", failed(Reason::ProviderUnavailable)),
        ("FAILED", "SYSTEM_FAILURE", "", failed(Reason::ProviderUnavailable)),
        ("FAILED", "", "005", failed(Reason::ProviderUnavailable)),
        ("FAILED", "DND_FAIL", "", failed(Reason::Blocked)),
        ("FAILED", "", "006", failed(Reason::Blocked)),
        ("FAILED", "BLOCKED", "", failed(Reason::Blocked)),
        ("FAILED", "", "007", failed(Reason::Blocked)),
        ("FAILED", "DND_TIMEOUT", "", failed(Reason::Blocked)),
        ("FAILED", "", "008", failed(Reason::Blocked)),
        ("FAILED", "OUTSIDE_WORKING_HOURS", "", failed(Reason::Blocked)),
        ("FAILED", "", "009", failed(Reason::Blocked)),
        ("FAILED", "BLOCKED_MASK", "", failed(Reason::TemplateRejected)),
        ("SUBMITTED", "", "", None),
        ("UNKNOWN", "", "", None),
    ] {
        let expected: Vec<_> = report.into_iter().map(receipt).collect();
        let query = [
            ("externalId", ID),
            ("deliveredTS", "1526347800000"),
            ("status", status),
            ("cause", cause),
            ("phoneNo", "919876543210"),
            ("errCode", code),
            ("token", "s3cret"),
        ];
        assert_eq!(gateway.receipts(&call(&query, "")), Ok(expected.clone()), "{query:?}");
        let events =
            json!([{"externalId": ID, "eventType": status, "cause": cause, "errCode": code}]);
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("response", &events.to_string())
            .finish();
        for body in [events.to_string(), json!({ "response": events }).to_string(), form] {
            let call = call(&[("token", "s3cret")], &body);
            assert_eq!(gateway.receipts(&call), Ok(expected.clone()), "{body}");
        }
    }
}

#[test]
fn reads_a_batch_in_order_and_skips_what_means_nothing() {
    let gateway = gateway("http://127.0.0.1:9".to_owned(), &client());
    let body = json!([
        {"externalId": ID, "eventType": "FAILED", "errCode": "006"},
        {"externalId": ID}, {"eventType": "DELIVERED"}, null, 7,
        {"externalId": "", "eventType": "DELIVERED"},
        {"externalId": ID, "eventType": "DELIVERED"},
    ]);
    let receipts = gateway.receipts(&call(&[("token", "s3cret")], &body.to_string()));
    let expected = vec![receipt(Report::Failed(Reason::Blocked)), receipt(Report::Delivered)];
    assert_eq!(receipts, Ok(expected));
}

#[test]
fn refuses_calls_without_the_secret_before_it_reads_them() {
    let client = client();
    let gateway = gateway("http://127.0.0.1:9".to_owned(), &client);
    let mut unset = account("http://127.0.0.1:9".to_owned());
    unset.webhook_token = Secret::default();
    let unset = HttpGateway::new(unset, client);
    let report = [("externalId", ID), ("status", "SUCCESS")];
    for token in [
        &[][..],
        &[("token", "wrong")],
        &[("token", "")],
        &[("token", "s3cret"), ("token", "s3cret")],
    ] {
        for body in ["", "[]", "garbage"] {
            let call = call(&[&report, token].concat(), body);
            assert_eq!(gateway.receipts(&call), Err(WebhookError::Unauthenticated), "{token:?}");
            for gateway in [&gateway, &unset] {
                let refused = gateway.admit(&call.head);
                assert_eq!(refused, Err(WebhookError::Unauthenticated), "{token:?}");
            }
            assert_eq!(unset.receipts(&call), Err(WebhookError::Unauthenticated), "{token:?}");
        }
    }
}

#[test]
fn tells_the_unreadable() {
    let gateway = gateway("http://127.0.0.1:9".to_owned(), &client());
    let twice = [("externalId", ID), ("externalId", ID), ("status", "SUCCESS")];
    for (query, body) in [
        (&[][..], ""),
        (&[("status", "SUCCESS")], ""),
        (&[("externalId", ID)], ""),
        (&[], "[{\"externalId\": 7}, null]"),
        (&twice, ""),
        (&[], "garbage"),
        (&[], "{}"),
        (&[], "7"),
        (&[], "response=garbage"),
        (&[], "response=[]&response=[]"),
        (&[], "{\"response\": 7}"),
    ] {
        let call = call(&[query, &[("token", "s3cret")]].concat(), body);
        assert_eq!(gateway.receipts(&call), Err(WebhookError::Unreadable), "{query:?} {body}");
    }
}
