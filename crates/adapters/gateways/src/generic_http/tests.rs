use super::*;
use crate::tests::contract::{SECRET, client, to};
use crate::tests::fake_vendor::{FakeVendor, Play};
use crate::{HttpGateway, Secret};
use dwar_otp::{Gateway, Outcome, Receipt, ReceiptSource};
use serde_json::json;

pub(super) const GOOD: &str = r#"
    name = "vendor"
    [secrets]
    key = "s3cret-key"
    token = "s3cret-token-of-16"
    [request]
    url = "https://api.example.com/send"
    json = '{"to": "{phone_digits}", "code": "{code}"}'
    [answer]
    reference = "/id"
    [receipts]
    secret = "token"
    secret_in = { query = "token" }
    payload = "json"
    reference = "/id"
    status = "/status"
    delivered = ["ok"]
"#;

pub(super) fn parse(text: &str) -> GenericHttpSettings {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn with(replace: &str, by: &str) -> GenericHttpSettings {
    assert!(GOOD.contains(replace), "{replace}");
    parse(&GOOD.replacen(replace, by, 1))
}

#[test]
fn says_what_is_wrong_with_the_settings_and_never_shows_a_secret() {
    assert!(GenericHttp::new(parse(GOOD)).is_ok());
    let url = "https://api.example.com/send";
    let json = "'{\"to\": \"{phone_digits}\", \"code\": \"{code}\"}'";
    for (replace, by, says) in [
        ("\"vendor\"", "\"\"", "name:"),
        ("\"vendor\"", "\"Vendor/x\"", "name:"),
        ("\"s3cret-key\"", "\"\"", "secrets.key: it is empty"),
        ("\"s3cret-token-of-16\"", "\"s3cret\"", "receipts.secret: it could be guessed"),
        ("secret = \"token\"", "secret = \"other\"", "receipts.secret: there is no secret"),
        (url, "http://api.example.com/send", "codes would go unencrypted"),
        (url, "http://127.evil.example/send", "codes would go unencrypted"),
        (url, "ftp://api.example.com/send", "it begins with https://"),
        (url, "api.example.com/send", "it begins with https://"),
        (url, "https://{brand}.example.com/send", "no placeholder is allowed"),
        (url, "https://s3cret@api.example.com/send", "no user and no password"),
        (url, "http://localhost:s3cret@evil.example/send", "no user and no password"),
        (url, "https:///send", "it is not an address"),
        (url, "https://api.example.com/send?key=s3cret", "parameters go into request.query"),
        (url, "https://api.example.com/a b", "characters that need encoding"),
        (url, "https://api.example.com/a%2Fb", "characters that need encoding"),
        (url, "https://api.example.com/{phone}", "unknown placeholder \"phone\""),
        (url, "https://api.example.com/{secret.nope}", "no secret named \"nope\""),
        (url, "https://api.example.com/{template_id}", "template_id: the request names it"),
        (url, "https://api.example.com/{code", "a single brace"),
        (json, "'{\"to\": \"{phone_digits}\"}'", "neither {code} nor {text}"),
        (json, "'{\"code\": \"{code}\"}'", "the phone number is not sent"),
        (json, "'{\"code\": {code}}'", "request.json: it is not JSON"),
        (json, "'\"}\"'", "a single brace"),
        ("json =", "form = [[\"a\", \"b\"]]\njson =", "not both"),
        ("json =", "method = \"GET\"\njson =", "a GET has no body"),
        ("json =", "headers = [[\"a b\", \"c\"]]\njson =", "not a header name"),
        ("json =", "headers = [[\"Host\", \"c\"]]\njson =", "Dwar sets this header itself"),
        ("json =", "headers = [[\"content-type\", \"c\"]]\njson =", "Dwar sets this header itself"),
        ("json =", "headers = [[\"a\", \"é\"]]\njson =", "only visible ASCII"),
        ("json =", "basic_auth = [\"a\", \"{code}\"]\njson =", "only secrets are allowed"),
        ("json =", "basic_auth = [\"a:b\", \"c\"]\njson =", "a user has no colon"),
        ("reference = \"/id\"\n    [rec", "[rec", "answer.reference: receipts cannot be"),
        ("reference = \"/id\"\n    [rec", "reference = \"id\"\n[rec", "answer.reference: it is a"),
        (
            "[answer]",
            "[answer]\nsuccess = { pointer = \"ok\", values = [\"1\"] }",
            "answer.success",
        ),
        ("[answer]", "[answer]\nsuccess = { pointer = \"/ok\", values = [] }", "it needs values"),
        (
            "[answer]",
            "[answer]\nreasons = [{ reason = \"blocked\" }]",
            "answer.reasons[0]: it needs",
        ),
        (
            "[answer]",
            "[answer]\nreasons = [{ pointer = \"/a\", reason = \"blocked\" }]",
            "belong together",
        ),
        (
            "[answer]",
            "[answer]\nreasons = [{ pointer = \"a\", values = [\"1\"], reason = \"blocked\" }]",
            "answer.reasons[0]: pointer is",
        ),
        ("status = \"/status\"", "status = \"status\"", "are JSON pointers"),
        ("delivered = [\"ok\"]", "delivered = []", "receipts.delivered"),
        ("delivered =", "field = \"data\"\ndelivered =", "only forms have fields"),
        (
            "delivered =",
            "failed = [{ status = 400, values = [\"1\"], reason = \"blocked\" }]\ndelivered =",
            "no HTTP status",
        ),
        ("delivered =", "failed = [{ reason = \"blocked\" }]\ndelivered =", "receipts.failed[0]"),
    ] {
        let error = GenericHttp::new(with(replace, by)).err().unwrap().to_string();
        assert!(error.contains(says), "{by}: {error}");
        assert!(!error.contains(SECRET), "{error}");
    }
}

#[test]
fn does_not_even_read_settings_that_are_misspelt() {
    for (replace, by, says) in [
        ("name =", "nmae = \"x\"\nname =", "unknown field `nmae`"),
        ("json =", "jsno = \"x\"\njson =", "unknown field `jsno`"),
        ("json =", "method = \"PUT\"\njson =", "unknown variant `PUT`"),
        ("payload = \"json\"", "payload = \"xml\"", "unknown variant `xml`"),
        (
            "[answer]",
            "[answer]\nreasons = [{ status = 400, reason = \"bad\" }]",
            "\"bad\" is not a reason",
        ),
        ("url = \"https://api.example.com/send\"", "", "missing field `url`"),
    ] {
        let text = GOOD.replacen(replace, by, 1);
        let error = toml::from_str::<GenericHttpSettings>(&text).unwrap_err().to_string();
        assert!(error.contains(says), "{by}: {error}");
    }
}

#[test]
fn plain_http_is_for_loopback_or_by_decision() {
    for host in ["localhost:8080", "127.0.0.1:1", "[::1]:1"] {
        let settings = with("https://api.example.com/send", &format!("http://{host}/send"));
        assert!(GenericHttp::new(settings).is_ok(), "{host}");
    }
    let mut settings = with("https://api.example.com/send", "http://sms.internal/send");
    settings.allow_plain_http = true;
    assert!(GenericHttp::new(settings).is_ok());
}

#[test]
fn hides_its_secrets_from_debug() {
    assert_eq!(format!("{:?}", parse(GOOD)), "GenericHttpSettings(vendor)");
}

fn gateway(settings: GenericHttpSettings, client: &HttpClient) -> HttpGateway<GenericHttp> {
    HttpGateway::new(GenericHttp::new(settings).unwrap(), client.clone())
}

async fn outcome(answer: &str, play: Play, client: &HttpClient) -> Outcome {
    let vendor = FakeVendor::start(play).await;
    let mut settings = with("[answer]\n    reference = \"/id\"", answer);
    settings.request.url = format!("{}/send", vendor.base_url());
    gateway(settings, client).deliver(to(Channel::Sms)).await
}

#[tokio::test]
async fn a_status_of_the_list_is_a_success_and_any_2xx_without_a_list() {
    let client = client();
    for (statuses, status, accepted) in [
        ("", 200, true),
        ("", 202, true),
        ("", 400, false),
        ("statuses = [200, 409]", 200, true),
        ("statuses = [200, 409]", 409, true),
        ("statuses = [200, 409]", 202, false),
    ] {
        let answer = format!("[answer]\nreference = \"/id\"\n{statuses}");
        let outcome = outcome(&answer, Play::json(status, &json!({"id": 7})), &client).await;
        let (provider_ref, awaits_receipt) = (Some("7".to_owned()), true);
        let expected = Outcome::Accepted { provider_ref, awaits_receipt };
        assert_eq!(outcome == expected, accepted, "{statuses} {status}: {outcome:?}");
    }
}

#[tokio::test]
async fn the_first_rule_that_fits_gives_the_reason() {
    let client = client();
    let answer = r#"[answer]
        reference = "/id"
        success = { pointer = "/ok", values = ["yes", "true"] }
        reasons = [
            { status = 400, pointer = "/code", values = ["1", "x"], reason = "rejected_number" },
            { pointer = "/code", values = ["1"], reason = "blocked" },
            { status = 418, reason = "not_on_channel" },
            { status = 500, reason = "provider_throttled" },
        ]"#;
    for (status, body, expected) in [
        (200, json!({"ok": "YES", "code": 1}), None),
        (200, json!({"ok": true}), None),
        (400, json!({"code": 1}), Some(Reason::RejectedNumber)),
        (400, json!({"code": "X"}), Some(Reason::RejectedNumber)),
        (200, json!({"ok": "no", "code": "1"}), Some(Reason::Blocked)),
        (200, json!({"ok": false, "code": "2"}), Some(Reason::Unknown)),
        (418, json!({"code": 2}), Some(Reason::NotOnChannel)),
        (500, json!({"ok": true}), Some(Reason::ProviderThrottled)),
        (503, json!({"ok": true}), Some(Reason::ProviderUnavailable)),
        (400, json!({"code": 7}), Some(Reason::ProviderRefused)),
        (401, json!(null), Some(Reason::ProviderAuth)),
    ] {
        let outcome = outcome(answer, Play::json(status, &body), &client).await;
        let unmatched = Outcome::Accepted { provider_ref: None, awaits_receipt: false };
        assert_eq!(outcome, expected.map_or(unmatched, Outcome::Refused), "{status} {body}");
    }
}

#[tokio::test]
async fn text_answers_are_compared_as_a_whole() {
    let client = client();
    let answer = "[answer]\nreference = \"/id\"\nsuccess = { pointer = \"\", values = [\"OK\"] }";
    for (text, accepted) in [("ok", true), ("ok ", false), ("error", false)] {
        let outcome = outcome(answer, Play::text(200, "text/plain", text), &client).await;
        assert_eq!(matches!(outcome, Outcome::Accepted { .. }), accepted, "{text}");
    }
}

pub(super) fn webhook(receipts: &str) -> HttpGateway<GenericHttp> {
    let from = GOOD.find("secret_in").unwrap();
    gateway(parse(&format!("{}{receipts}", &GOOD[..from])), &client())
}

pub(super) fn call(query: &[(&str, &str)], headers: &[(&str, &str)], body: &str) -> WebhookCall {
    let pairs = |pairs: &[(&str, &str)]| {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    WebhookCall {
        head: WebhookHead {
            path_and_query: String::new(),
            query: pairs(query),
            headers: pairs(headers),
        },
        body: body.as_bytes().to_vec(),
    }
}

pub(super) const TOKEN: &str = "s3cret-token-of-16";
pub(super) const REST: &str = r#"
    reference = "/id"
    status = "/status"
    delivered = ["1", "read"]
    failed = [
        { pointer = "/why/0", values = ["dnd"], reason = "blocked" },
        { values = ["2", "failed"], reason = "unknown" },
    ]
"#;

pub(super) fn receipt(report: Report) -> Receipt {
    Receipt { provider: "vendor".to_owned(), provider_ref: "m-1".to_owned(), report }
}

#[test]
fn the_secret_earns_a_body_as_long_as_the_file_says() {
    let place = "secret_in = { query = \"token\" }\npayload = \"json\"";
    for (more, longest_body) in
        [("", 64 * 1_024), ("longest_body = 1", 1), ("longest_body = 3145728", 3 * 1_024 * 1_024)]
    {
        let webhook = webhook(&format!("{place}\n{more}{REST}"));
        let admitted = webhook.admit(&call(&[("token", TOKEN)], &[], "").head);
        assert_eq!(admitted, Ok(WebhookAdmission { longest_body, proven: true }));
    }
}

#[test]
fn reads_lists_of_reports_from_json() {
    let settings = "secret_in = { header = \"X-Token\" }\npayload = \"json\"\nitems = \"/events\"";
    let webhook = webhook(&format!("{settings}{REST}"));
    let receipts = |body: &str| webhook.receipts(&call(&[], &[("x-token", TOKEN)], body));
    let body = json!({"events": [
        {"id": "m-1", "status": 2, "why": ["DND"]},
        {"id": "m-1", "status": "Failed"},
        {"id": "m-1", "status": "sent"},
        {"id": "m-1"}, {"status": 1}, {"id": {}, "status": 1}, null,
        {"id": "m-1", "status": 1},
    ]});
    let expected = vec![
        receipt(Report::Failed(Reason::Blocked)),
        receipt(Report::Failed(Reason::Unknown)),
        receipt(Report::Delivered),
    ];
    assert_eq!(receipts(&body.to_string()), Ok(expected));
    // An empty list contains nothing that cannot be parsed; a list of only invalid reports does.
    assert_eq!(receipts("{\"events\": []}"), Ok(Vec::new()));
    let odd = r#"{"events": [null, {"id": "m-1"}, {"status": 1}]}"#;
    for unreadable in ["", "garbage", "{}", "[]", "{\"events\": {}}", "7", odd] {
        assert_eq!(receipts(unreadable), Err(WebhookError::Unreadable), "{unreadable}");
    }
}

#[test]
fn reads_forms_queries_and_json_inside_of_forms() {
    let delivered = Ok(vec![receipt(Report::Delivered)]);
    let place = "secret_in = { query = \"token\" }\n";
    let form = webhook(&format!("{place}payload = \"form\"{REST}"));
    let token = [("token", TOKEN)];
    assert_eq!(form.receipts(&call(&token, &[], "id=m-1&status=READ&x=1")), delivered);
    let twice = form.receipts(&call(&token, &[], "id=m-1&id=m-2&status=1"));
    assert_eq!(twice, Err(WebhookError::Unreadable));
    let nested = webhook(&format!("{place}payload = \"form\"\nfield = \"data\"{REST}"));
    let body = "data=%7B%22id%22%3A%22m-1%22%2C%22status%22%3A1%7D";
    assert_eq!(nested.receipts(&call(&token, &[], body)), delivered);
    for body in ["data=x", "other=1", "data=7", ""] {
        assert_eq!(nested.receipts(&call(&token, &[], body)), Err(WebhookError::Unreadable));
    }
    let query = webhook(&format!("{place}payload = \"query\"{REST}"));
    let report = [("token", TOKEN), ("id", "m-1"), ("status", "1")];
    assert_eq!(query.receipts(&call(&report, &[], "")), delivered);
}

#[test]
fn refuses_calls_without_the_secret_before_it_reads_them() {
    let body = json!({"id": "m-1", "status": 1}).to_string();
    let in_query =
        webhook(&format!("secret_in = {{ query = \"token\" }}\npayload = \"json\"{REST}"));
    let in_header =
        webhook(&format!("secret_in = {{ header = \"X-Token\" }}\npayload = \"json\"{REST}"));
    for wrong in
        [&[][..], &["wrong"], &[""], &["S3CRET-TOKEN-OF-16"], &[TOKEN, TOKEN], &["wrong", TOKEN]]
    {
        for body in [&*body, "garbage", ""] {
            let pairs = |name| wrong.iter().map(|token| (name, *token)).collect::<Vec<_>>();
            let refused = Err(WebhookError::Unauthenticated);
            let right = [("x-token", TOKEN)];
            let wrong = call(&pairs("token"), &right, body);
            assert_eq!(in_query.admit(&wrong.head).err(), refused.clone().err());
            assert_eq!(in_query.receipts(&wrong), refused);
            let right = [("token", TOKEN)];
            let wrong = call(&right, &pairs("x-token"), body);
            assert_eq!(in_header.admit(&wrong.head).err(), refused.clone().err());
            assert_eq!(in_header.receipts(&wrong), refused);
        }
    }
    let mut none = parse(GOOD);
    none.receipts = None;
    let none = gateway(none, &client());
    let call = call(&[("token", TOKEN)], &[], &body);
    assert_eq!(none.admit(&call.head), Err(WebhookError::Unauthenticated));
    assert_eq!(none.receipts(&call), Err(WebhookError::Unauthenticated));
}

#[test]
fn an_empty_secret_never_gets_that_far() {
    let mut settings = parse(GOOD);
    settings.secrets.insert("token".to_owned(), Secret::new(""));
    assert!(GenericHttp::new(settings).is_err());
}
