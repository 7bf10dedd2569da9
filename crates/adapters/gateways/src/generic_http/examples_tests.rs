//! The example configurations, tested against a server that answers as the providers' pages
//! describe.

use super::*;
use crate::tests::contract::{SECRET, client, survives_a_broken_provider, to};
use crate::tests::fake_vendor::{self, FakeVendor, Play};
use crate::tests::fixtures::{ATTEMPT, TEXT};
use crate::{HttpGateway, Secret};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dwar_otp::{Gateway, Outcome, Receipt, ReceiptSource};
use serde_json::{Value, json};

const TOKEN: &str = "s3cret-webhook-token";

fn example(name: &str) -> GenericHttpSettings {
    let path = format!("{}/examples_config/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut settings: GenericHttpSettings = toml::from_str(&text).unwrap();
    for (name, secret) in &mut settings.secrets {
        *secret = Secret::new(if name == "webhook_token" {
            TOKEN.to_owned()
        } else {
            format!("{SECRET}-{name}")
        });
    }
    settings
}

/// The example with `base_url` in place of its provider's address.
fn gateway(name: &str, base_url: &str, client: &HttpClient) -> HttpGateway<GenericHttp> {
    let mut settings = example(name);
    let path = settings.request.url.splitn(4, '/').nth(3).unwrap().to_owned();
    settings.request.url = format!("{base_url}/{path}");
    HttpGateway::new(GenericHttp::new(settings).unwrap(), client.clone())
}

struct Answered {
    status: u16,
    body: Value,
}

async fn deliver(
    name: &str,
    play: Answered,
    client: &HttpClient,
) -> (Outcome, fake_vendor::Request) {
    let vendor = FakeVendor::start(Play::json(play.status, &play.body)).await;
    let outcome = gateway(name, &vendor.base_url(), client).deliver(to(Channel::Sms)).await;
    (outcome, vendor.only_request())
}

fn accepted(reference: &str, awaits_receipt: bool) -> Outcome {
    Outcome::Accepted { provider_ref: Some(reference.to_owned()), awaits_receipt }
}

fn call(body: &str) -> WebhookCall {
    WebhookCall {
        head: WebhookHead {
            path_and_query: String::new(),
            query: vec![("token".to_owned(), TOKEN.to_owned())],
            headers: Vec::new(),
        },
        body: body.as_bytes().to_vec(),
    }
}

#[test]
fn every_example_is_complete_as_it_stands() {
    let folder = format!("{}/examples_config", env!("CARGO_MANIFEST_DIR"));
    let mut names = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let settings: GenericHttpSettings = toml::from_str(&text).unwrap();
        names.push(GenericHttp::new(settings).unwrap().name().to_owned());
    }
    names.sort();
    assert_eq!(names, ["2factor", "exotel", "fast2sms"]);
}

#[tokio::test]
async fn every_example_survives_a_broken_provider() {
    for name in ["2factor", "exotel", "fast2sms"] {
        survives_a_broken_provider(Channel::Sms, |base, client| gateway(name, &base, client)).await;
    }
}

#[tokio::test]
async fn fast2sms() {
    let client = client();
    let body = json!({"return": true, "request_id": "lwdtp7cjyqxvfe9", "message": ["ok"]});
    let (outcome, request) = deliver("fast2sms", Answered { status: 200, body }, &client).await;
    assert_eq!(outcome, accepted("lwdtp7cjyqxvfe9", true));
    assert_eq!((&*request.method, &*request.target), ("POST", "/dev/bulkV2"));
    assert_eq!(request.header("authorization"), "s3cret-api_key");
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(
        request.json(),
        json!({
            "route": "dlt_manual", "sender_id": "ACMEIN", "entity_id": "1101000000000000001",
            "template_id": "1107000000000000001", "message": TEXT, "numbers": "9876543210",
        })
    );
    for (http, code, reason) in [
        (400, 411, Reason::RejectedNumber),
        (400, 424, Reason::TemplateRejected),
        (401, 412, Reason::ProviderAuth),
        (400, 416, Reason::ProviderUnavailable),
        (400, 995, Reason::RejectedNumber),
        (400, 402, Reason::ProviderRefused),
        (200, 411, Reason::RejectedNumber),
    ] {
        let body = json!({"return": false, "status_code": code, "message": "no"});
        let (outcome, _) = deliver("fast2sms", Answered { status: http, body }, &client).await;
        assert_eq!(outcome, Outcome::Refused(reason), "{http} {code}");
    }
    let webhook = gateway("fast2sms", "http://127.0.0.1:1", &client);
    for (status, report) in [
        ("Delivered", Some(Report::Delivered)),
        ("Failed", Some(Report::Failed(Reason::Unknown))),
        ("Sent", None),
    ] {
        let body = json!({"request_id": "lwdtp7cjyqxvfe9", "status": status}).to_string();
        let reports: Vec<_> = webhook.receipts(&call(&body)).unwrap();
        let reports: Vec<_> = reports.into_iter().map(|receipt| receipt.report).collect();
        assert_eq!(reports, report.into_iter().collect::<Vec<_>>(), "{status}");
    }
}

#[tokio::test]
async fn two_factor() {
    let client = client();
    let body = json!({"Status": "Success", "Details": "a1b2-session"});
    let (outcome, request) = deliver("2factor", Answered { status: 200, body }, &client).await;
    assert_eq!(outcome, accepted("a1b2-session", false));
    let target = "/API/V1/s3cret-api_key/SMS/919876543210/012345/LoginCode";
    assert_eq!((&*request.method, &*request.target), ("GET", target));
    assert!(request.body.is_empty());
    for (details, reason) in
        [("Invalid API Key", Reason::ProviderAuth), ("Something else", Reason::ProviderRefused)]
    {
        let body = json!({"Status": "Error", "Details": details});
        let (outcome, _) = deliver("2factor", Answered { status: 200, body }, &client).await;
        assert_eq!(outcome, Outcome::Refused(reason), "{details}");
    }
}

#[tokio::test]
async fn exotel() {
    let client = client();
    let sid = "0b6c6a98f32682862ce6edf1bdab3526";
    let body = json!({"SMSMessage": {"Sid": sid, "Status": "queued", "To": "09876543210"}});
    let (outcome, request) = deliver("exotel", Answered { status: 200, body }, &client).await;
    assert_eq!(outcome, accepted(sid, true));
    assert_eq!((&*request.method, &*request.target), ("POST", "/v1/Accounts/acme1/Sms/send.json"));
    let credentials = BASE64_STANDARD.encode("s3cret-api_key:s3cret-api_token");
    assert_eq!(request.header("authorization"), format!("Basic {credentials}"));
    let callback = format!("https://otp.example.com/webhooks/exotel?token={TOKEN}");
    let form = [
        ("From", "ACMEIN"),
        ("To", "+919876543210"),
        ("Body", TEXT),
        ("DltEntityId", "1101000000000000001"),
        ("DltTemplateId", "1107000000000000001"),
        ("SmsType", "transactional"),
        ("Priority", "high"),
        ("CustomField", ATTEMPT),
        ("StatusCallback", &callback),
    ];
    assert_eq!(request.form(), form.map(|(name, value)| (name.to_owned(), value.to_owned())));
    for (http, body, reason) in [
        (402, json!({"RestException": {"Status": 402}}), Reason::ProviderUnavailable),
        (401, json!({"RestException": {"Status": 401}}), Reason::ProviderAuth),
        (400, json!({"RestException": {"Status": 400}}), Reason::ProviderRefused),
        (200, json!({"SMSMessage": {"Sid": sid, "Status": "failed"}}), Reason::Unknown),
    ] {
        let (outcome, _) = deliver("exotel", Answered { status: http, body }, &client).await;
        assert_eq!(outcome, Outcome::Refused(reason), "{http}");
    }
    let webhook = gateway("exotel", "http://127.0.0.1:1", &client);
    for (status, detail, report) in [
        ("delivered", "DELIVERED_TO_HANDSET", Some(Report::Delivered)),
        ("failed", "FAILED_DND", Some(Report::Failed(Reason::Blocked))),
        ("failed", "FAILED_INVALID_NUMBER", Some(Report::Failed(Reason::RejectedNumber))),
        ("failed", "FAILED_DLT_TEMPLATE", Some(Report::Failed(Reason::TemplateRejected))),
        ("failed", "OTHER", Some(Report::Failed(Reason::Unknown))),
        ("expired", "", Some(Report::Failed(Reason::Unknown))),
        ("sent", "DELIVERED_TO_OPERATOR", None),
    ] {
        let body =
            format!("SmsSid={sid}&To=%2B919876543210&Status={status}&DetailedStatus={detail}");
        let receipt = |report| Receipt {
            provider: "exotel".to_owned(),
            provider_ref: sid.to_owned(),
            report,
        };
        let expected: Vec<_> = report.into_iter().map(receipt).collect();
        assert_eq!(webhook.receipts(&call(&body)), Ok(expected), "{status} {detail}");
    }
}
