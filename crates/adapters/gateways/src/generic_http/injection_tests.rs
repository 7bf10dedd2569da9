//! Whatever a message contains, its request keeps its structure.

use super::*;
use crate::HttpGateway;
use crate::tests::contract::{client, to};
use dwar_otp::{Gateway, Outcome};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use reqwest::Request;
use serde_json::{Value, json};

const URL: &str = "https://api.example.com/v1/{template_id}/a{language}b/{brand}/send";

fn settings(body: &str) -> GenericHttpSettings {
    let text = format!(
        r#"
        name = "vendor"
        template_id = "default"
        [secrets]
        key = "k&\n\"%7B{{}}é"
        word = "w&\"%7B{{}}"
        [request]
        url = "{URL}"
        headers = [["x-key", "Key {{secret.word}}"], ["x-brand", "{{brand}}|{{text}}"]]
        query = [["key", "{{secret.key}}"], ["text", "<{{text}}>"], ["to", "{{phone_e164}}"]]
        {body}
        "#
    );
    toml::from_str(&text).unwrap()
}

fn hostile() -> impl Strategy<Value = String> {
    let nasty = [
        "\"",
        "\\",
        "\r\n",
        "&",
        "=",
        "+",
        "%",
        "%0d%0a",
        "{",
        "}",
        "{code}",
        "{{",
        "/",
        "..",
        "?",
        "#",
        "\u{0}",
        "\u{7f}",
        "é",
        "कोड",
        "😀",
        "\u{2028}",
        " ",
        ":",
        ";",
        "<",
        "@",
    ];
    let pieces = prop_oneof![
        4 => prop::sample::select(nasty.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
    ];
    prop::collection::vec(pieces, 0..6).prop_map(|pieces| pieces.concat())
}

fn message(values: &[String; 4]) -> Message {
    let [text, brand, language, template] = values.clone();
    let template_id = Some(template);
    Message { text, brand, language, template_id, ..to(Channel::Sms) }
}

/// Runs `check` on the requests of hostile messages.
fn for_all(body: &str, check: impl Fn(&Request, &[String; 4])) {
    let (vendor, client) = (GenericHttp::new(settings(body)).unwrap(), client());
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let values = [hostile(), hostile(), hostile(), hostile()];
    let outcome = runner.run(&values, |values| {
        let message = message(&values);
        let bends = [&values[1], &values[3]].iter().any(|value| *value == "." || *value == "..");
        match vendor.request.fill(&client, &message) {
            None => prop_assert!(bends, "refused {values:?}"),
            Some(request) => {
                prop_assert!(!bends, "accepted {values:?}");
                check(&request.build().unwrap(), &values);
            }
        }
        Ok(())
    });
    outcome.unwrap();
}

fn decoded(percent: &str) -> String {
    let plus_kept = percent.replace('+', "%2B");
    let query = format!("v={plus_kept}");
    form_urlencoded::parse(query.as_bytes()).next().unwrap().1.into_owned()
}

fn check_head(request: &Request, [text, brand, language, template]: &[String; 4]) {
    let key = "k&\n\"%7B{}é";
    let url = request.url();
    assert_eq!(
        (url.scheme(), url.host_str(), url.port()),
        ("https", Some("api.example.com"), None)
    );
    assert_eq!((url.username(), url.password(), url.fragment()), ("", None, None));
    let path: Vec<_> = url.path_segments().unwrap().map(decoded).collect();
    assert_eq!(path, ["v1", template, &format!("a{language}b"), brand, "send"]);
    let query: Vec<_> = url.query_pairs().into_owned().collect();
    let expected = [("key", key.to_owned()), ("text", format!("<{text}>"))];
    let expected = expected.into_iter().chain([("to", "+919876543210".to_owned())]);
    assert_eq!(query, expected.map(|(name, it)| (name.to_owned(), it)).collect::<Vec<_>>());
    let header = |name: &str| request.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("x-key"), "Key w&\"%7B{}");
    assert_eq!(decoded(&header("x-brand").replace('&', "%26")), format!("{brand}|{text}"));
}

#[test]
fn in_json() {
    let body = r#"json = '{"a": ["{text}", {"b": "x{brand}", "n": 7}], "{text}": "{secret.key}"}'"#;
    for_all(body, |request, values| {
        check_head(request, values);
        let body: Value =
            serde_json::from_slice(request.body().unwrap().as_bytes().unwrap()).unwrap();
        let [text, brand, ..] = values;
        let list = json!([text, {"b": format!("x{brand}"), "n": 7}]);
        assert_eq!(body, json!({"a": list, "{text}": "k&\n\"%7B{}é"}));
    });
}

#[test]
fn in_forms() {
    let body = r#"form = [["a b", "{text}"], ["c", "{{{brand}}}"], ["c", "{secret.key}"]]"#;
    for_all(body, |request, values| {
        check_head(request, values);
        let body = request.body().unwrap().as_bytes().unwrap();
        let fields: Vec<_> = form_urlencoded::parse(body).into_owned().collect();
        let [text, brand, ..] = values;
        let expected = [
            ("a b", text.clone()),
            ("c", format!("{{{brand}}}")),
            ("c", "k&\n\"%7B{}é".to_owned()),
        ];
        assert_eq!(fields, expected.map(|(name, it)| (name.to_owned(), it)));
    });
}

#[tokio::test]
async fn a_value_that_would_bend_the_path_is_refused_without_a_call() {
    let gateway = HttpGateway::new(GenericHttp::new(settings("")).unwrap(), client());
    for bent in [".", ".."] {
        let values = ["x", "x", "x", bent].map(str::to_owned);
        let outcome = gateway.deliver(message(&values)).await;
        assert_eq!(outcome, Outcome::Refused(Reason::TemplateRejected));
    }
}
