use super::*;
use crate::HttpGateway;
use crate::tests::contract::{client, survives_a_broken_provider, to};
use crate::tests::fake_vendor::{FakeVendor, Play};
use dwar_otp::{Gateway, Outcome, Receipt, ReceiptSource};

const REQUEST: &str = "3763646c3058373530393938";

fn account(base_url: String) -> Msg91 {
    let template = |name: &str, language: &str| WhatsappTemplate {
        name: name.into(),
        language: language.into(),
    };
    Msg91 {
        base_url: base_url.parse().unwrap(),
        auth_key: Secret::new("auth-s3cret"),
        webhook_token: Secret::new("s3cret"),
        sms_template_id: Some("flow-1".to_owned()),
        sms_variables: BTreeMap::from([("VAR1".to_owned(), Msg91Variable::Code)]),
        whatsapp_number: Some("919000000001".to_owned()),
        whatsapp_namespace: None,
        whatsapp_code_button: true,
        whatsapp_templates: BTreeMap::from([
            ("en".to_owned(), template("login_code", "en_US")),
            ("hi".to_owned(), template("login_code_hi", "hi")),
        ]),
    }
}

fn gateway(base_url: String, client: &HttpClient) -> HttpGateway<Msg91> {
    HttpGateway::new(account(base_url), client.clone())
}

fn accepted(provider_ref: Option<&str>) -> Outcome {
    Outcome::Accepted {
        provider_ref: provider_ref.map(str::to_owned),
        awaits_receipt: provider_ref.is_some(),
    }
}

fn flow_success() -> Play {
    Play::json(200, &json!({"message": REQUEST, "type": "success"}))
}

#[tokio::test]
async fn sends_sms_by_flow() {
    let client = client();
    let vendor = FakeVendor::start(flow_success()).await;
    let outcome = gateway(vendor.base_url(), &client).deliver(to(Channel::Sms)).await;
    assert_eq!(outcome, accepted(Some(REQUEST)));
    let request = vendor.only_request();
    assert_eq!((&*request.method, &*request.target), ("POST", "/api/v5/flow"));
    assert_eq!(request.header("authkey"), "auth-s3cret");
    assert_eq!(request.header("content-type"), "application/json");
    assert_eq!(
        request.json(),
        json!({
            "template_id": "flow-1",
            "short_url": "0",
            "recipients": [{"mobiles": "919876543210", "VAR1": "012345"}],
        })
    );
}

#[tokio::test]
async fn sends_the_projects_own_template_and_the_variables_of_the_template() {
    let vendor = FakeVendor::start(flow_success()).await;
    let mut account = account(vendor.base_url());
    account.webhook_token = Secret::default();
    account.sms_variables = BTreeMap::from([
        ("otp".to_owned(), Msg91Variable::Code),
        ("who".to_owned(), Msg91Variable::Brand),
        ("min".to_owned(), Msg91Variable::Minutes),
    ]);
    let mut message = to(Channel::Sms);
    message.template_id = Some("flow-2".to_owned());
    message.brand = "A\"cme\n".to_owned();
    let outcome = HttpGateway::new(account, client()).deliver(message).await;
    let provider_ref = Some(REQUEST.to_owned());
    let without_receipt = Outcome::Accepted { provider_ref, awaits_receipt: false };
    assert_eq!(outcome, without_receipt, "without a webhook there is no receipt to wait for");
    let body = vendor.only_request().json();
    assert_eq!(body["template_id"], "flow-2");
    let recipient =
        json!({"mobiles": "919876543210", "otp": "012345", "who": "A\"cme\n", "min": "10"});
    assert_eq!(body["recipients"], json!([recipient]));
}

#[tokio::test]
async fn sends_whatsapp_templates_in_the_language_of_the_message() {
    let client = client();
    for (tag, name, language) in [
        ("en", "login_code", "en_US"),
        ("hi-IN", "login_code_hi", "hi"),
        ("ta", "login_code", "en_US"),
    ] {
        let play = Play::json(
            200,
            &json!({"status": "success", "hasError": false, "data": "queued", "request_id": REQUEST}),
        );
        let vendor = FakeVendor::start(play).await;
        let mut message = to(Channel::Whatsapp);
        message.language = tag.to_owned();
        let outcome = gateway(vendor.base_url(), &client).deliver(message).await;
        assert_eq!(outcome, accepted(Some(REQUEST)));
        let request = vendor.only_request();
        assert_eq!(request.method, "POST");
        assert_eq!(request.target, "/api/v5/whatsapp/whatsapp-outbound-message/bulk/");
        assert_eq!(request.header("authkey"), "auth-s3cret");
        let components = json!({
            "body_1": {"type": "text", "value": "012345"},
            "button_1": {"subtype": "url", "type": "text", "value": "012345"},
        });
        let template = json!({
            "name": name,
            "language": {"code": language, "policy": "deterministic"},
            "to_and_components": [{"to": ["919876543210"], "components": components}],
        });
        assert_eq!(
            request.json(),
            json!({
                "integrated_number": "919000000001",
                "content_type": "template",
                "payload": {
                    "messaging_product": "whatsapp", "type": "template", "template": template,
                },
            })
        );
    }
}

#[tokio::test]
async fn whatsapp_without_a_button_and_with_a_namespace() {
    let vendor = FakeVendor::start(Play::json(200, &json!({"type": "success"}))).await;
    let mut account = account(vendor.base_url());
    account.whatsapp_code_button = false;
    account.whatsapp_namespace = Some("ns".to_owned());
    let outcome = HttpGateway::new(account, client()).deliver(to(Channel::Whatsapp)).await;
    assert_eq!(outcome, accepted(None), "without a request id no receipt can be matched");
    let template = &vendor.only_request().json()["payload"]["template"];
    assert_eq!(template["namespace"], "ns");
    let components = json!({"body_1": {"type": "text", "value": "012345"}});
    assert_eq!(template["to_and_components"][0]["components"], components);
}

#[tokio::test]
async fn understands_every_error_whatever_the_http_status() {
    let client = client();
    for (codes, reason) in [
        (&[201, 207, 208, 302, 303, 418, 505][..], Reason::ProviderAuth),
        (&[202, 311], Reason::RejectedNumber),
        (&[203, 310, 400, 603], Reason::TemplateRejected),
        (&[506], Reason::ProviderThrottled),
        (&[1, 2, 209, 210, 301, 306, 402, 601, 602], Reason::ProviderUnavailable),
        (&[999], Reason::ProviderRefused),
    ] {
        for code in codes {
            for body in [
                json!({"type": "error", "message": "no", "code": code}),
                json!({"type": "error", "message": "no", "code": code.to_string()}),
                json!({"msgType": "error", "apiError": code.to_string()}),
            ] {
                for status in [200, 400] {
                    let vendor = FakeVendor::start(Play::json(status, &body)).await;
                    let outcome =
                        gateway(vendor.base_url(), &client).deliver(to(Channel::Sms)).await;
                    assert_eq!(outcome, Outcome::Refused(reason), "{status} {body}");
                }
            }
        }
    }
}

#[tokio::test]
async fn an_error_without_a_code_is_judged_by_its_status() {
    let client = client();
    for (status, body, reason) in [
        (200, json!({"type": "error", "message": "Template ID Missing"}), Reason::ProviderRefused),
        (200, json!({"status": "fail", "hasError": true}), Reason::ProviderRefused),
        (200, json!({"status": "success", "hasError": true}), Reason::ProviderRefused),
        (502, json!({"type": "error", "message": "no"}), Reason::ProviderRefused),
        (503, json!({"type": "error", "message": "no"}), Reason::ProviderUnavailable),
        (200, json!({"status": "perhaps"}), Reason::Unknown),
        (401, json!({"type": "error", "message": "Unauthorized"}), Reason::ProviderAuth),
        (401, json!({"type": "success", "message": REQUEST}), Reason::ProviderAuth),
    ] {
        let vendor = FakeVendor::start(Play::json(status, &body)).await;
        for channel in [Channel::Sms, Channel::Whatsapp] {
            let outcome = gateway(vendor.base_url(), &client).deliver(to(channel)).await;
            assert_eq!(outcome, Outcome::Refused(reason), "{status} {body}");
        }
    }
}

#[tokio::test]
async fn survives_everything_a_broken_provider_does() {
    for channel in [Channel::Sms, Channel::Whatsapp] {
        survives_a_broken_provider(channel, gateway).await;
    }
}

#[tokio::test]
async fn refuses_what_is_not_configured_without_a_call() {
    let vendor = FakeVendor::start(flow_success()).await;
    let mut account = account(vendor.base_url());
    account.sms_template_id = None;
    account.whatsapp_templates.clear();
    let gateway = HttpGateway::new(account, client());
    for channel in [Channel::Sms, Channel::Whatsapp] {
        let refused = Outcome::Refused(Reason::ProviderUnavailable);
        assert_eq!(gateway.deliver(to(channel)).await, refused);
    }
    assert!(vendor.requests().is_empty());
}

#[test]
fn hides_its_secrets_from_debug() {
    let shown = format!("{:?}", account("http://127.0.0.1:9".to_owned()));
    assert!(!shown.contains("s3cret"), "{shown}");
}

fn call(query: &[(&str, &str)], body: &str) -> WebhookCall {
    let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    WebhookCall {
        head: WebhookHead {
            path_and_query: "/webhooks/msg91".to_owned(),
            query: query.iter().map(pair).collect(),
            headers: Vec::new(),
        },
        body: body.as_bytes().to_vec(),
    }
}

struct Webhook(HttpGateway<Msg91>);

impl Webhook {
    fn new() -> Self {
        Self(gateway("http://127.0.0.1:9".to_owned(), &client()))
    }

    fn receipts(&self, body: &str) -> Result<Vec<Receipt>, WebhookError> {
        self.0.receipts(&call(&[("token", "s3cret")], body))
    }

    fn reports(&self, body: &str) -> Vec<Report> {
        self.receipts(body).unwrap().into_iter().map(|receipt| receipt.report).collect()
    }
}

/// The body of a webhook call in MSG91's format v2: a form whose field `data` is JSON.
fn v2(reports: &Value) -> String {
    let data = json!([{
        "senderId": "ACME", "requestId": REQUEST, "report": reports, "userId": "27",
        "campaignName": "API",
    }]);
    form_urlencoded::Serializer::new(String::new()).append_pair("data", &data.to_string()).finish()
}

/// The body of a webhook call in MSG91's format v3: flat JSON.
fn v3(status: &str) -> String {
    json!({"number": "919876543210", "requestId": REQUEST, "status": status, "desc": "…"})
        .to_string()
}

#[test]
fn reads_every_status_in_both_formats() {
    let webhook = Webhook::new();
    for (status, report) in [
        ("1", Some(Report::Delivered)),
        ("2", Some(Report::Failed(Reason::Unknown))),
        ("9", Some(Report::Failed(Reason::Blocked))),
        ("16", Some(Report::Failed(Reason::Blocked))),
        ("17", Some(Report::Failed(Reason::Blocked))),
        ("25", Some(Report::Failed(Reason::Blocked))),
        ("5", None),
        ("delivered", Some(Report::Delivered)),
        ("Delivered", Some(Report::Delivered)),
        ("read", Some(Report::Delivered)),
        ("failed", Some(Report::Failed(Reason::Unknown))),
        ("undelivered", Some(Report::Failed(Reason::Unknown))),
        ("rejected", Some(Report::Failed(Reason::Blocked))),
        ("NDNC", Some(Report::Failed(Reason::Blocked))),
        ("blocked", Some(Report::Failed(Reason::Blocked))),
        ("blocked number", Some(Report::Failed(Reason::Blocked))),
        ("Blocked-Number", Some(Report::Failed(Reason::Blocked))),
        ("Auto failed", Some(Report::Failed(Reason::RejectedNumber))),
        ("AUTO_FAILED", Some(Report::Failed(Reason::RejectedNumber))),
        ("autofailed", Some(Report::Failed(Reason::RejectedNumber))),
        ("Opt-out", None),
        ("Sent/Pending", None),
        ("sent", None),
        ("submitted", None),
        ("", None),
    ] {
        let expected: Vec<_> = report.into_iter().collect();
        let entry = json!([{"number": "919876543210", "status": status, "desc": "…"}]);
        let inner = json!([{"requestId": REQUEST, "report": entry}]).to_string();
        assert_eq!(webhook.reports(&v2(&entry)), expected, "v2 {status}");
        assert_eq!(
            webhook.reports(&json!({ "data": inner }).to_string()),
            expected,
            "v2 JSON {status}"
        );
        assert_eq!(webhook.reports(&v3(status)), expected, "v3 {status}");
    }
}

#[test]
fn names_the_request_and_keeps_the_order() {
    let webhook = Webhook::new();
    let entries = json!([{"status": "2"}, {"status": 1}]);
    let receipt =
        |report| Receipt { provider: "msg91".to_owned(), provider_ref: REQUEST.to_owned(), report };
    let expected = vec![receipt(Report::Failed(Reason::Unknown)), receipt(Report::Delivered)];
    assert_eq!(webhook.receipts(&v2(&entries)).unwrap(), expected);
}

#[test]
fn reads_the_error_code_of_meta_in_the_reason_of_a_failure() {
    let webhook = Webhook::new();
    for (why, reason) in [
        ("131026: Message undeliverable", Reason::NotOnChannel),
        ("(#131049) healthy ecosystem", Reason::Blocked),
        ("131050", Reason::Blocked),
        ("130472", Reason::Blocked),
        ("130429", Reason::ProviderThrottled),
        ("131048", Reason::ProviderThrottled),
        ("131056", Reason::RejectedNumber),
        ("131021", Reason::RejectedNumber),
        ("131042 unpaid", Reason::ProviderAuth),
        ("000190", Reason::ProviderAuth),
        ("190", Reason::Unknown),
        ("131000", Reason::ProviderUnavailable),
        ("131016", Reason::ProviderUnavailable),
        ("error 132001 template", Reason::TemplateRejected),
        ("13202", Reason::Unknown),
        ("switched off", Reason::Unknown),
        ("", Reason::Unknown),
    ] {
        for field in ["failedReason", "failureReason", "reason"] {
            let body = json!({"requestId": REQUEST, "eventName": "failed", field: why});
            assert_eq!(
                webhook.reports(&body.to_string()),
                [Report::Failed(reason)],
                "{field}: {why}"
            );
        }
    }
}

#[test]
fn refuses_calls_without_the_secret_before_it_reads_them() {
    let gateway = gateway("http://127.0.0.1:9".to_owned(), &client());
    for query in [
        &[][..],
        &[("token", "wrong")],
        &[("token", "")],
        &[("token", "s3cret"), ("token", "s3cret")],
        &[("Token", "s3cret")],
    ] {
        for body in [&v3("1"), "garbage"] {
            let refused = Err(WebhookError::Unauthenticated);
            let call = call(query, body);
            assert_eq!(gateway.admit(&call.head).err(), refused.clone().err(), "{query:?}");
            assert_eq!(gateway.receipts(&call), refused, "{query:?}");
        }
    }
    let mut unset = account("http://127.0.0.1:9".to_owned());
    unset.webhook_token = Secret::default();
    let call = call(&[("token", "")], &v3("1"));
    let refused = HttpGateway::new(unset, client()).receipts(&call);
    assert_eq!(refused, Err(WebhookError::Unauthenticated));
}

#[test]
fn tells_an_unreadable_call_from_one_without_a_final_status() {
    let webhook = Webhook::new();
    for body in ["", "garbage", "data=garbage", "other=%5B%5D", "7", "\"x\"", "data=[]&data=[]"] {
        assert_eq!(webhook.receipts(body), Err(WebhookError::Unreadable), "{body}");
    }
    for body in [
        "{}",
        r#"[{"data":[{"description":"DELIVERED"}],"event":"delivered"}]"#,
        r#"{"requestId":"","status":"1"}"#,
        r#"{"requestId":"x","status":["1"]}"#,
        r#"[null, 7, {"requestId": "x"}, {"requestId": "x", "report": [7, null]}]"#,
    ] {
        assert_eq!(webhook.receipts(body), Err(WebhookError::Unreadable), "{body}");
    }
    for body in ["[]", "data=[]", r#"{"requestId":"x","status":"5"}"#] {
        assert_eq!(webhook.receipts(body), Ok(Vec::new()), "{body}");
    }
}

#[test]
fn an_unreadable_entry_is_skipped_and_the_others_are_read() {
    let webhook = Webhook::new();
    let entries = json!([null, 7, {"status": {}}, {"status": "1"}, {"number": "1"}]);
    assert_eq!(webhook.reports(&v2(&entries)), [Report::Delivered]);
    let requests = json!([
        {"report": [{"status": "1"}]}, null,
        {"requestId": REQUEST, "report": [{"status": "2"}]},
    ]);
    let failed = [Report::Failed(Reason::Unknown)];
    assert_eq!(webhook.reports(&requests.to_string()), failed);
}

#[test]
fn an_unknown_status_number_is_read_by_its_description() {
    let webhook = Webhook::new();
    let report = |status: &str, desc: &str| {
        let body = json!({"requestId": REQUEST, "status": status, "desc": desc});
        webhook.reports(&body.to_string())
    };
    assert_eq!(report("77", "AUTO FAILED"), [Report::Failed(Reason::RejectedNumber)]);
    assert_eq!(report("77", "SUBMITTED"), []);
    assert_eq!(
        report("1", "FAILED"),
        [Report::Delivered],
        "a known number overrides the description"
    );
}
