//! The information about a hook for its operator: why calls were refused, which secrets are valid,
//! and its address.

use super::{Hook, called, done, hook, refused, signed, supabase};
use crate::common::{Database, Service, World, answer};
use serde_json::{Value, json};

on_both_databases! {
    a_refusal_is_in_the_log_and_in_the_figures;
    the_log_says_what_is_wrong_with_a_call;
    an_old_secret_is_shown_while_it_counts;
    the_whole_address_is_shown_where_it_is_known;
    a_body_that_is_too_long_is_refused_in_words;
}

fn logged(service: &Service, message: &str) -> Vec<Value> {
    let lines = service.stderr().into_iter().map(|line| serde_json::from_str(&line).unwrap());
    lines.filter(|line: &Value| line["message"] == message).collect()
}

fn said(world: &World, arguments: &[&str]) -> String {
    let output = world.run(arguments);
    assert!(output.status.success(), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn last_line(service: &Service) -> Value {
    let lines = logged(service, "answered");
    let line = lines.iter().rfind(|line| line["route"] == "/hooks/{hook}");
    line.unwrap().clone()
}

async fn count(service: &Service, status: u16, code: &str) -> f64 {
    let page = reqwest::get(service.metrics()).await.unwrap().text().await.unwrap();
    let labels =
        format!(r#"route="/hooks/{{hook}}",method="POST",status="{status}",code="{code}""#);
    let series = format!("dwar_http_requests_total{{{labels}}} ");
    let line = page.lines().find_map(|line| line.strip_prefix(&series));
    line.unwrap_or_else(|| panic!("no {series}")).parse().unwrap()
}

async fn a_refusal_is_in_the_log_and_in_the_figures(database: Database) {
    let service =
        Service::start_in(World::new(database).with("DWAR__METRICS__ADDRESS", "127.0.0.1:0"));
    let (rich, poor) = (service.world.project("100"), service.world.project("0"));
    let theirs = hook(&service, &rich, "supabase", "live");
    let empty = hook(&service, &poor, "supabase", "live");
    let spent = service.world.project("100");
    service.world.cli(&["project", "set", "--project", &spent.id, "--daily-spend-rupees", "0"]);
    let limited = hook(&service, &spent, "supabase", "live");
    let phone = service.world.phone();
    for code in ["1111", "2222", "3333"] {
        done(&answer(signed(&service, &theirs, &supabase(&phone, code))).await);
    }
    assert_eq!(last_line(&service)["code"], Value::Null);
    for (hook, body, http_code, code) in [
        (&theirs, supabase(&phone, "4444"), 429, "OTP_RATE_LIMITED"),
        (&theirs, supabase("12345", "1111"), 422, "INVALID_PHONE"),
        (&theirs, supabase(&phone, "12"), 422, "INVALID_FIELD"),
        (&theirs, "{}".to_owned(), 400, "INVALID_REQUEST"),
        (&empty, supabase(&phone, "5555"), 503, "INSUFFICIENT_BALANCE"),
        (&limited, supabase(&phone, "6666"), 503, "SPEND_LIMIT_REACHED"),
    ] {
        assert!(count(&service, 200, code).await < 0.5, "{code}: shown from the start, at 0");
        refused(&answer(signed(&service, hook, &body)).await, http_code);
        let line = last_line(&service);
        assert_eq!((&line["status"], &line["code"]), (&json!(200), &json!(code)), "{line}");
        assert!((count(&service, 200, code).await - 1.0).abs() < 0.5, "{code}");
    }
    // Logto reads the status. Problems that the waiting person cannot solve have no code of their
    // own.
    for (project, code) in [(&poor, "INSUFFICIENT_BALANCE"), (&spent, "SPEND_LIMIT_REACHED")] {
        let logto = hook(&service, project, "logto", "live");
        let body = json!({ "to": format!("91{phone}"), "payload": { "code": "123456" } });
        let call = called(&service, &logto, &body.to_string());
        answer(call.header("authorization", &logto.secret))
            .await
            .refused(503, "SERVICE_UNAVAILABLE");
        let line = last_line(&service);
        assert_eq!((&line["status"], &line["code"]), (&json!(503), &json!(code)));
        assert!((count(&service, 503, code).await - 1.0).abs() < 0.5);
    }
}

async fn the_log_says_what_is_wrong_with_a_call(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let ours = hook(&service, &project, "supabase", "test");
    let logto = hook(&service, &project, "logto", "test");
    let body = supabase(&service.world.phone(), "561166");
    let other = |hook: &Hook| Hook { id: hook.id.clone(), secret: another(&hook.secret) };
    let unknown = "0199a000-0000-7000-8000-000000000000";
    let signs = |id: &str| Hook { id: id.to_owned(), secret: ours.secret.clone() };
    let late = ("webhook-timestamp", "1000");
    let shown =
        |hook: &Hook, secret: &str| called(&service, hook, &body).header("authorization", secret);
    let calls = [
        (called(&service, &ours, &body), ours.id.as_str(), "shape"),
        (replaced(signed(&service, &ours, &body), late), ours.id.as_str(), "time"),
        (signed(&service, &other(&ours), &body), ours.id.as_str(), "signature"),
        (signed(&service, &signs(unknown), &body), unknown, "unknown_hook"),
        (signed(&service, &signs(&logto.id), &body), logto.id.as_str(), "shape"),
        (shown(&logto, "Bearer x"), logto.id.as_str(), "shape"),
        (shown(&logto, &another(&logto.secret)), logto.id.as_str(), "signature"),
    ];
    let mut sentences = Vec::new();
    for (call, hook, fault) in calls {
        let refused = answer(call).await;
        refused.refused(401, "WEBHOOK_UNAUTHENTICATED");
        sentences.push(refused.body["error"].clone());
        let lines = logged(&service, "a call of a hook is not authenticated");
        let line = lines.last().unwrap();
        assert_eq!((&line["hook"], &line["fault"]), (&json!(hook), &json!(fault)), "{line}");
        assert_eq!(lines.len(), sentences.len());
        let id = refused.body["request_id"].as_str().unwrap();
        assert_eq!(line["span"]["request_id"], id, "{line}");
    }
    assert!(sentences.windows(2).all(|two| two[0] == two[1]), "no answer says it: {sentences:?}");
}

/// Another secret of the same form.
fn another(secret: &str) -> String {
    let (prefix, rest) = secret.split_at(secret.find("whsec_").unwrap() + 6);
    let first = if rest.starts_with('A') { "B" } else { "A" };
    format!("{prefix}{first}{}", &rest[1..])
}

fn replaced(
    call: reqwest::RequestBuilder,
    (name, value): (&'static str, &str),
) -> reqwest::RequestBuilder {
    let (client, request) = call.build_split();
    let mut request = request.unwrap();
    request.headers_mut().insert(name, value.parse().unwrap());
    reqwest::RequestBuilder::from_parts(client, request)
}

async fn an_old_secret_is_shown_while_it_counts(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let made = hook(&service, &project, "supabase", "test");
    let of = ["--project", project.id.as_str(), "--hook", made.id.as_str()];
    let list = ["hook", "list", "--project", &project.id];
    let item = || service.world.cli(&list)["items"][0].clone();
    assert_eq!(item()["previous_secret_until"], Value::Null);
    service.world.cli(&[&["hook", "rotate-secret"], of.as_slice()].concat());
    let until = item()["previous_secret_until"].as_str().unwrap().to_owned();
    let text = said(&service.world, &list);
    assert!(text.contains(&format!("the old secret is accepted until {until}")), "{text}");
    assert!(!text.contains("whsec_"), "{text}");
}

async fn the_whole_address_is_shown_where_it_is_known(database: Database) {
    let world = World::new(database).with("DWAR__GATEWAYS__PUBLIC_URL", "https://otp.example.com/");
    let project = world.project("0");
    let add = ["hook", "add", "--project", &project.id, "--kind", "logto", "--mode", "test"];
    let add = [add.as_slice(), &["--expires-in", "600"]].concat();
    let made = world.cli(&add);
    let whole = format!("https://otp.example.com{}", made["hook"]["path"].as_str().unwrap());
    assert_eq!(made["hook"]["url"], json!(whole));
    assert!(said(&world, &add).contains("at https://otp.example.com/hooks/"));
    let list = ["hook", "list", "--project", &project.id];
    assert!(said(&world, &list).contains(&whole));
    let unknown = world.with("DWAR__GATEWAYS__PUBLIC_URL", "");
    assert_eq!(unknown.cli(&list)["items"][0]["url"], Value::Null);
    assert!(said(&unknown, &list).contains("at /hooks/"));
}

/// Supabase sends the metadata of a user twice: with the user, and with its identities.
async fn a_body_that_is_too_long_is_refused_in_words(database: Database) {
    let service = Service::start(database);
    let project = service.world.project("0");
    let theirs = hook(&service, &project, "supabase", "test");
    let logto = hook(&service, &project, "logto", "test");
    let of = |kibibytes: usize| {
        let metadata = json!({ "notes": "x".repeat(kibibytes * 1_024) });
        let user = json!({
            "phone": format!("91{}", service.world.phone()),
            "user_metadata": metadata,
            "identities": [{ "provider": "phone", "identity_data": metadata }],
        });
        json!({ "user": user, "sms": { "otp": "561166" } }).to_string()
    };
    done(&answer(signed(&service, &theirs, &of(98))).await);
    for kibibytes in [130, 400] {
        let long = answer(signed(&service, &theirs, &of(kibibytes))).await;
        refused(&long, 413);
        let said = long.body["error"]["message"].as_str().unwrap();
        assert_eq!(
            said,
            "Your account holds too much data for a code to be sent. Contact support."
        );
        let line = last_line(&service);
        assert_eq!((&line["status"], &line["code"]), (&json!(200), &json!("PAYLOAD_TOO_LARGE")));
    }
    let call = called(&service, &logto, &of(130)).header("authorization", &logto.secret);
    answer(call).await.refused(413, "PAYLOAD_TOO_LARGE");
}
