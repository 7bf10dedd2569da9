use super::*;
use crate::HttpGateway;
use crate::tests::captured_logs::CapturedLogs;
use crate::tests::contract::{client, survives_a_broken_provider};
use crate::tests::fake_vendor::{FakeVendor, Play};
use crate::tests::fixtures::{CODE, TEXT, message};
use dwar_kernel::KeyMode;
use dwar_otp::{Gateway, Outcome};

const PHONE: &str = "9876543210";
const ACCOUNT: &str = "ACaaaabbbbccccddddeeeeffff00001111";
const AUTH_TOKEN: &str = "auth-token";
const SID: &str = "SMaaaabbbbccccddddeeeeffff00001111";
#[path = "twilio_webhook_tests.rs"]
mod webhook;

const PUBLIC: &str = "https://otp.example.com";

fn settings() -> TwilioSettings {
    let content_sids = [("en", "HXenglish"), ("hi", "HXhindi")];
    TwilioSettings {
        base_url: "http://127.0.0.1:9".parse().unwrap(),
        account_sid: ACCOUNT.to_owned(),
        auth_token: Secret::new(AUTH_TOKEN),
        api_key_sid: String::new(),
        api_key_secret: Secret::default(),
        sms_sender: Some("MGservice".to_owned()),
        whatsapp_sender: Some("+15005550006".to_owned()),
        whatsapp_templates: content_sids.map(|(tag, sid)| (tag.to_owned(), sid.to_owned())).into(),
    }
}

fn public() -> Option<BaseUrl> {
    Some(PUBLIC.parse().unwrap())
}

fn gateway_of(
    settings: TwilioSettings,
    public_url: Option<BaseUrl>,
    client: &HttpClient,
) -> HttpGateway<Twilio> {
    HttpGateway::new(Twilio { settings, public_url }, client.clone())
}

fn gateway(base_url: String, client: &HttpClient) -> HttpGateway<Twilio> {
    let settings = TwilioSettings { base_url: base_url.parse().unwrap(), ..settings() };
    gateway_of(settings, public(), client)
}

fn offline() -> HttpGateway<Twilio> {
    gateway_of(settings(), public(), &client())
}

fn login(channel: Channel) -> Message {
    message(KeyMode::Live, channel, PHONE)
}

/// The answer in the vendor's specification, with its text and numbers.
fn created(status: &str, error_code: Value) -> Play {
    Play::json(
        201,
        &json!({
            "account_sid": ACCOUNT,
            "api_version": "2010-04-01",
            "body": TEXT,
            "direction": "outbound-api",
            "error_code": error_code,
            "error_message": null,
            "from": null,
            "messaging_service_sid": "MGservice",
            "num_segments": "1",
            "price": null,
            "sid": SID,
            "status": status,
            "to": "+919876543210",
            "uri": format!("/2010-04-01/Accounts/{ACCOUNT}/Messages/{SID}.json"),
        }),
    )
}

fn error(status: u16, code: i64) -> Play {
    Play::json(
        status,
        &json!({
            "code": code,
            "message": format!("no message {CODE} to +919876543210"),
            "more_info": format!("https://www.twilio.com/docs/errors/{code}"),
            "status": status,
        }),
    )
}

async fn deliver(play: Play, client: &HttpClient) -> Outcome {
    let vendor = FakeVendor::start(play).await;
    gateway(vendor.base_url(), client).deliver(login(Channel::Sms)).await
}

fn fields(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn sends_an_sms_as_documented_and_accepts() {
    let vendor = FakeVendor::start(created("accepted", Value::Null)).await;
    let gateway = gateway(vendor.base_url(), &client());
    assert_eq!(Gateway::provider(&gateway), "twilio");
    let accepted = Outcome::Accepted { provider_ref: Some(SID.to_owned()), awaits_receipt: true };
    assert_eq!(gateway.deliver(login(Channel::Sms)).await, accepted);

    let request = vendor.only_request();
    assert_eq!(request.method, "POST");
    assert_eq!(request.target, format!("/2010-04-01/Accounts/{ACCOUNT}/Messages.json"));
    assert_eq!(request.header("host"), vendor.host());
    let basic = STANDARD.encode(format!("{ACCOUNT}:{AUTH_TOKEN}"));
    assert_eq!(request.header("authorization"), format!("Basic {basic}"));
    assert_eq!(request.header("content-type"), "application/x-www-form-urlencoded");
    let expected = fields(&[
        ("To", "+919876543210"),
        ("MessagingServiceSid", "MGservice"),
        ("Body", TEXT),
        ("ValidityPeriod", "600"),
        ("StatusCallback", "https://otp.example.com/webhooks/twilio"),
    ]);
    assert_eq!(request.form(), expected);
}

#[tokio::test]
async fn sends_whatsapp_as_documented_in_the_language() {
    let vendor = FakeVendor::start(created("queued", Value::Null)).await;
    let gateway = gateway(vendor.base_url(), &client());
    for (language, content_sid) in [("en", "HXenglish"), ("hi-IN", "HXhindi"), ("ta", "HXenglish")]
    {
        let message = Message { language: language.to_owned(), ..login(Channel::Whatsapp) };
        assert!(matches!(gateway.deliver(message).await, Outcome::Accepted { .. }));
        let expected = fields(&[
            ("To", "whatsapp:+919876543210"),
            ("From", "whatsapp:+15005550006"),
            ("ContentSid", content_sid),
            ("ContentVariables", r#"{"1":"012345"}"#),
            ("StatusCallback", "https://otp.example.com/webhooks/twilio"),
        ]);
        assert_eq!(vendor.requests().pop().unwrap().form(), expected, "{language}");
    }
}

#[tokio::test]
async fn an_api_key_and_a_sender_id_are_used_and_no_receipt_is_asked_for_without_an_address() {
    let vendor = FakeVendor::start(created("queued", Value::Null)).await;
    let settings = TwilioSettings {
        base_url: vendor.base_url().parse().unwrap(),
        api_key_sid: "SKkey".to_owned(),
        api_key_secret: Secret::new("key-secret"),
        sms_sender: Some("DWAROT".to_owned()),
        ..settings()
    };
    let gateway = gateway_of(settings, None, &client());
    let accepted = Outcome::Accepted { provider_ref: Some(SID.to_owned()), awaits_receipt: false };
    let long = Message { minutes: 100_000, ..login(Channel::Sms) };
    assert_eq!(gateway.deliver(long).await, accepted);

    let request = vendor.only_request();
    let basic = STANDARD.encode("SKkey:key-secret");
    assert_eq!(request.header("authorization"), format!("Basic {basic}"));
    let expected = fields(&[
        ("To", "+919876543210"),
        ("From", "DWAROT"),
        ("Body", TEXT),
        ("ValidityPeriod", "14400"),
    ]);
    assert_eq!(request.form(), expected);
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_without_a_call() {
    let vendor = FakeVendor::start(created("queued", Value::Null)).await;
    let mut gateway = gateway(vendor.base_url(), &client());
    gateway.vendor.settings.whatsapp_templates.clear();
    let refused = Outcome::Refused(Reason::TemplateRejected);
    assert_eq!(gateway.deliver(login(Channel::Whatsapp)).await, refused);
    gateway.vendor.settings.sms_sender = None;
    gateway.vendor.settings.whatsapp_sender = None;
    for channel in [Channel::Sms, Channel::Whatsapp] {
        assert_eq!(
            gateway.deliver(login(channel)).await,
            Outcome::Refused(Reason::ProviderUnavailable)
        );
    }
    assert!(vendor.requests().is_empty());
}

/// Every code of the table, by its reason, and some other codes.
const CODES: [(Reason, &[i64]); 9] = [
    (Reason::NotOnChannel, &[63_003, 63_015, 63_024]),
    (
        Reason::RejectedNumber,
        &[21_211, 21_214, 21_401, 21_608, 21_612, 21_614, 21_635, 30_005, 30_006],
    ),
    (Reason::Blocked, &[21_610, 30_004, 30_007, 30_450, 30_453, 63_013, 63_014, 63_032, 63_049]),
    (
        Reason::TemplateRejected,
        &[
            21_617, 21_655, 21_656, 21_901, 63_005, 63_016, 63_021, 63_027, 63_028, 63_030, 63_040,
            63_041, 63_042,
        ],
    ),
    (
        Reason::ProviderAuth,
        &[
            10_001, 20_003, 20_005, 20_404, 21_212, 21_408, 21_603, 21_606, 21_701, 21_703, 21_704,
            30_002, 63_001, 63_002, 63_007,
        ],
    ),
    (Reason::ProviderThrottled, &[20_429, 21_611, 30_001, 63_017, 63_018, 63_038]),
    (Reason::ProviderUnavailable, &[20_500, 20_503, 30_017, 30_410, 63_009, 63_010, 63_012]),
    (Reason::Timeout, &[30_036]),
    (Reason::Unknown, &[0, 30_003, 30_008, 63_043, 99_999]),
];

#[tokio::test]
async fn every_error_code_has_its_reason_in_an_answer() {
    let client = client();
    for (reason, codes) in CODES {
        for code in codes {
            // A 400 is a refusal, whatever its code means.
            let known = if reason == Reason::Unknown { Reason::ProviderRefused } else { reason };
            let refused = deliver(error(400, *code), &client).await;
            assert_eq!(refused, Outcome::Refused(known), "{code}");
            let failed = deliver(created("failed", json!(code)), &client).await;
            assert_eq!(failed, Outcome::Refused(reason), "{code}");
        }
    }
}

#[tokio::test]
async fn the_code_tells_more_than_the_status_and_a_success_needs_an_id() {
    let client = client();
    for (row, play, reason) in [
        ("code in a 500", error(500, 21_211), Reason::RejectedNumber),
        ("401", error(401, 0), Reason::ProviderAuth),
        ("garbage", Play::text(201, "text/html", "<html>welcome</html>"), Reason::Unknown),
        ("no sid", Play::json(201, &json!({ "status": "queued" })), Reason::Unknown),
        ("empty sid", Play::json(201, &json!({ "sid": "", "status": "queued" })), Reason::Unknown),
        ("undelivered", created("undelivered", Value::Null), Reason::Unknown),
        ("canceled", created("canceled", Value::Null), Reason::Unknown),
    ] {
        assert_eq!(deliver(play, &client).await, Outcome::Refused(reason), "{row}");
    }
}

#[tokio::test]
async fn neither_logs_nor_debug_show_code_phone_or_secrets() {
    let client = client();
    let (logs, _guard) = CapturedLogs::start();
    for play in [created("queued", Value::Null), error(400, 21_211), Play::Reset, Play::huge()] {
        deliver(play, &client).await;
    }
    let text = logs.text();
    assert!(text.contains("21211"), "{text}");
    let settings = format!("{:?}", settings());
    for secret in [CODE, PHONE, AUTH_TOKEN] {
        assert!(!text.contains(secret), "{secret} in {text}");
        assert!(!settings.contains(secret), "{secret} in {settings}");
    }
}

#[tokio::test]
async fn a_broken_provider_is_survived() {
    survives_a_broken_provider(Channel::Sms, gateway).await;
}
