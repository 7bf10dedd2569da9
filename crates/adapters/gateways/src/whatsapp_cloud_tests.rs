use super::*;
use crate::HttpGateway;
use crate::tests::captured_logs::CapturedLogs;
use crate::tests::contract::{client, survives_a_broken_provider};
use crate::tests::fake_vendor::{FakeVendor, Play};
use crate::tests::fixtures::{CODE, message};
use dwar_kernel::KeyMode;
use dwar_otp::{Gateway, Outcome};

#[path = "whatsapp_cloud_webhook_tests.rs"]
mod webhook;

const PHONE: &str = "9876543210";
const TOKEN: &str = "EAAJB-token";
const APP_SECRET: &str = "app secret";
const WAMID: &str = "wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI=";

fn gateway(base_url: String, client: &HttpClient) -> HttpGateway<WhatsappCloud> {
    let template = |name: &str, language: &str| WhatsappTemplate {
        name: name.to_owned(),
        language: language.to_owned(),
    };
    let templates = [("en", template("login", "en_US")), ("hi", template("login_hi", "hi"))];
    let vendor = WhatsappCloud {
        base_url: format!("{base_url}/v23.0").parse().unwrap(),
        phone_number_id: "106540352242922".to_owned(),
        access_token: Secret::new(TOKEN),
        app_secret: Secret::new(APP_SECRET),
        verify_token: Secret::new("agreed word"),
        templates: templates.map(|(tag, template)| (tag.to_owned(), template)).into(),
    };
    HttpGateway::new(vendor, client.clone())
}

fn offline() -> HttpGateway<WhatsappCloud> {
    gateway("http://127.0.0.1:9".to_owned(), &client())
}

fn login() -> Message {
    message(KeyMode::Live, Channel::Whatsapp, PHONE)
}

fn taken() -> Play {
    Play::json(
        200,
        &json!({
            "messaging_product": "whatsapp",
            "contacts": [{ "input": "+919876543210", "wa_id": "919876543210" }],
            "messages": [{ "id": WAMID, "message_status": "accepted" }],
        }),
    )
}

fn error(status: u16, code: i64) -> Play {
    Play::json(
        status,
        &json!({ "error": {
            "message": format!("(#{code}) +919876543210 {CODE}"),
            "type": "OAuthException",
            "code": code,
            "error_data": { "messaging_product": "whatsapp", "details": "919876543210" },
            "fbtrace_id": "Az8or2yhqkZfEZ-_4Qn_Bam",
        }}),
    )
}

async fn deliver(play: Play, client: &HttpClient) -> Outcome {
    let vendor = FakeVendor::start(play).await;
    gateway(vendor.base_url(), client).deliver(login()).await
}

#[tokio::test]
async fn sends_the_documented_request_and_accepts() {
    let vendor = FakeVendor::start(taken()).await;
    let gateway = gateway(vendor.base_url(), &client());
    assert_eq!(Gateway::provider(&gateway), "whatsapp_cloud");
    let accepted = Outcome::Accepted { provider_ref: Some(WAMID.to_owned()), awaits_receipt: true };
    assert_eq!(gateway.deliver(login()).await, accepted);

    let request = vendor.only_request();
    assert_eq!(request.method, "POST");
    assert_eq!(request.target, "/v23.0/106540352242922/messages");
    assert_eq!(request.header("host"), vendor.host());
    assert_eq!(request.header("authorization"), "Bearer EAAJB-token");
    assert_eq!(request.header("content-type"), "application/json");
    let expected = json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": "+919876543210",
        "type": "template",
        "template": {
            "name": "login",
            "language": { "policy": "deterministic", "code": "en_US" },
            "components": [
                { "type": "body", "parameters": [{ "type": "text", "text": CODE }] },
                {
                    "type": "button",
                    "sub_type": "url",
                    "index": "0",
                    "parameters": [{ "type": "text", "text": CODE }],
                },
            ],
        },
    });
    assert_eq!(request.json(), expected);
}

#[tokio::test]
async fn takes_the_template_of_the_language() {
    let vendor = FakeVendor::start(taken()).await;
    let gateway = gateway(vendor.base_url(), &client());
    for (language, name) in [("hi-IN", "login_hi"), ("ta", "login")] {
        gateway.deliver(Message { language: language.to_owned(), ..login() }).await;
        let request = vendor.requests().pop().unwrap();
        assert_eq!(request.json()["template"]["name"], name, "{language}");
    }
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_without_a_call() {
    let vendor = FakeVendor::start(taken()).await;
    let mut gateway = gateway(vendor.base_url(), &client());
    let sms = message(KeyMode::Live, Channel::Sms, PHONE);
    assert_eq!(gateway.deliver(sms).await, Outcome::Refused(Reason::ProviderUnavailable));
    gateway.vendor.templates.clear();
    assert_eq!(gateway.deliver(login()).await, Outcome::Refused(Reason::TemplateRejected));
    assert!(vendor.requests().is_empty());
}

/// Every code of the table, with one of each range, and some other codes.
const CODES: [(i64, Reason); 44] = [
    (0, Reason::ProviderAuth),
    (1, Reason::ProviderUnavailable),
    (2, Reason::ProviderUnavailable),
    (3, Reason::ProviderAuth),
    (4, Reason::ProviderThrottled),
    (5, Reason::ProviderAuth),
    (10, Reason::ProviderAuth),
    (33, Reason::ProviderAuth),
    (99, Reason::ProviderAuth),
    (100, Reason::Unknown),
    (190, Reason::ProviderAuth),
    (200, Reason::ProviderAuth),
    (299, Reason::ProviderAuth),
    (300, Reason::Unknown),
    (368, Reason::ProviderAuth),
    (80_007, Reason::ProviderThrottled),
    (130_429, Reason::ProviderThrottled),
    (130_472, Reason::Blocked),
    (130_497, Reason::ProviderAuth),
    (131_000, Reason::ProviderUnavailable),
    (131_005, Reason::ProviderAuth),
    (131_008, Reason::Unknown),
    (131_009, Reason::Unknown),
    (131_016, Reason::ProviderUnavailable),
    (131_021, Reason::RejectedNumber),
    (131_026, Reason::NotOnChannel),
    (131_030, Reason::RejectedNumber),
    (131_031, Reason::ProviderAuth),
    (131_037, Reason::ProviderAuth),
    (131_042, Reason::ProviderAuth),
    (131_045, Reason::ProviderAuth),
    (131_048, Reason::ProviderThrottled),
    (131_049, Reason::Blocked),
    (131_050, Reason::Blocked),
    (131_056, Reason::RejectedNumber),
    (131_057, Reason::ProviderUnavailable),
    (132_000, Reason::TemplateRejected),
    (132_001, Reason::TemplateRejected),
    (132_016, Reason::TemplateRejected),
    (133_000, Reason::Unknown),
    (133_004, Reason::ProviderUnavailable),
    (133_010, Reason::ProviderAuth),
    (133_016, Reason::ProviderThrottled),
    (999_999, Reason::Unknown),
];

#[tokio::test]
async fn every_error_code_has_its_reason_in_an_answer() {
    let client = client();
    for (code, reason) in CODES {
        // A 400 is a refusal, whatever its code means.
        let known = if reason == Reason::Unknown { Reason::ProviderRefused } else { reason };
        let refused = deliver(error(400, code), &client).await;
        assert_eq!(refused, Outcome::Refused(known), "{code}");
    }
}

#[tokio::test]
async fn the_code_tells_more_than_the_status_and_a_success_needs_an_id() {
    let client = client();
    for (row, play, reason) in [
        ("code in a 500", error(500, 131_026), Reason::NotOnChannel),
        ("code in a 200", error(200, 131_026), Reason::NotOnChannel),
        ("401", error(401, 999_999), Reason::ProviderAuth),
        ("garbage", Play::text(200, "text/html", "<html>welcome</html>"), Reason::Unknown),
        ("no id", Play::json(200, &json!({ "messages": [] })), Reason::Unknown),
        ("empty id", Play::json(200, &json!({ "messages": [{ "id": "" }] })), Reason::Unknown),
    ] {
        assert_eq!(deliver(play, &client).await, Outcome::Refused(reason), "{row}");
    }
}

#[tokio::test]
async fn neither_logs_nor_debug_show_code_phone_or_secrets() {
    let client = client();
    let (logs, _guard) = CapturedLogs::start();
    for play in [taken(), error(400, 131_026), Play::Reset, Play::text(200, "text/plain", CODE)] {
        deliver(play, &client).await;
    }
    let settings = format!("{:?}", offline().vendor);
    let text = logs.text();
    assert!(text.contains("131026"), "{text}");
    for secret in [CODE, PHONE, TOKEN, APP_SECRET, "agreed word"] {
        assert!(!text.contains(secret), "{secret} in {text}");
        assert!(!settings.contains(secret), "{secret} in {settings}");
    }
}

#[tokio::test]
async fn a_broken_provider_is_survived() {
    survives_a_broken_provider(Channel::Whatsapp, gateway).await;
}
