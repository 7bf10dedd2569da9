//! Holds the client to `docs/openapi.json`: every operation under `/v1/`, every field, every code.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::time::Duration;

use dwar_client::{Client, Code, EventData, Result, SendOptions, Visitor};
use serde_json::{Map, Value, json};

use crate::fake::Fake;

type Names = BTreeSet<String>;

fn document() -> Value {
    let text = include_str!("../../../../docs/openapi.json");
    let mut document: Value = serde_json::from_str(text).unwrap();
    // For callers that cannot vary a header; a client always can, and sends an `Idempotency-Key`.
    let relay = document.pointer_mut("/components/schemas/RelayBody/properties").unwrap();
    relay.as_object_mut().unwrap().remove("reference").unwrap();
    document
}

fn schema<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    }
}

/// An object with every field; those that may be null are if `nulls`.
fn sample(document: &Value, of: &Value, nulls: bool) -> Value {
    let of = schema(document, of);
    if let Some(fields) = of["properties"].as_object() {
        let fields = fields.iter().map(|(name, of)| (name.clone(), sample(document, of, nulls)));
        return fields.collect::<Map<_, _>>().into();
    }
    let kinds = match &of["type"] {
        Value::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    if nulls && kinds.contains(&json!("null")) {
        return Value::Null;
    }
    match kinds[0].as_str() {
        Some("array") => json!([sample(document, &of["items"], nulls)]),
        Some("integer") => json!(1),
        Some("boolean") => json!(true),
        _ if of["format"] == "date-time" => json!("2027-01-15T08:10:00.123Z"),
        _ => json!("text"),
    }
}

/// The names of the fields, and of the objects within.
fn names(of: &Value) -> Names {
    match of {
        Value::Array(items) => items.iter().flat_map(names).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, of)| names(of).into_iter().chain([name.clone()]))
            .collect(),
        _ => Names::new(),
    }
}

/// The names of the fields of a result, as `Debug` shows them.
fn fields(result: Result<impl Debug>) -> Result<Names> {
    let shown = format!("{:?}", result?);
    let names = shown.split_whitespace().filter_map(|word| word.strip_suffix(':'));
    let names = names.filter(|name| *name != "request_id");
    Ok(names.map(|name| if name == "purpose" { "use" } else { name }.into()).collect())
}

/// Calls an operation with every field.
async fn call(client: &Client, operation: &str) -> Option<Result<Names>> {
    let phone = "9876543210";
    Some(match operation {
        "sendOtp" => {
            let visitor = Visitor { address: Some([203, 0, 113, 9].into()), trusted: true };
            let (line, device) = (Some("a.example"), Some("dev_1"));
            let options = SendOptions { last_line: line, visitor: Some(visitor), device };
            fields(client.send(phone, Some(options)).await)
        }
        "relayOtp" => fields(client.relay(phone, "2468", Duration::from_secs(60)).await),
        "getOtpStatus" => fields(client.status("ID").await),
        "verifyOtp" => {
            let device = Some("dev_1");
            fields(client.verify_with_device(phone, "123456", Some("ID"), device).await)
        }
        "checkOtp" => {
            let device = Some("dev_1");
            fields(client.check_with_device(phone, "123456", Some("ID"), device).await)
        }
        "validateSession" => fields(client.validate("at_1").await),
        "refreshSession" => fields(client.refresh("svc_rt_1").await),
        "logoutSession" => fields(client.logout("at_1").await),
        "getIdentity" => fields(client.identity("ID").await),
        "findIdentity" => fields(client.identity_by_phone(phone).await),
        "deleteIdentity" => fields(client.delete_identity("ID").await),
        "listSandboxMessages" => fields(client.sandbox_messages(phone).await),
        "getPublicKeys" => fields(client.public_keys().await),
        _ => return None,
    })
}

#[tokio::test]
async fn operations_and_their_fields_are_those_of_the_document() {
    let document = document();
    let fake = Fake::answering(&Value::Null);
    let client = Client::new(&fake.url, "svc_test_1").unwrap();
    let mut seen = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let id = operation["operationId"].as_str().unwrap();
            // Clients lack the operation that proxies call, and the events, which a job reads in a
            // loop around one GET.
            let tags = operation["tags"].as_array().unwrap();
            let is_for_others = ["Proxies", "Events"].iter().any(|tag| tags.contains(&json!(tag)));
            if (path.starts_with("/v1/") || id == "getPublicKeys") && !is_for_others {
                let line =
                    format!("{method} {path}").replace("{otp_id}", "ID").replace("{id}", "ID");
                check(&document, operation, &line, &fake, &client).await;
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 13, "operations of the document");
}

async fn check(document: &Value, operation: &Value, line: &str, fake: &Fake, client: &Client) {
    let id = operation["operationId"].as_str().unwrap();
    let answer = &operation["responses"]["200"]["content"]["application/json"]["schema"];
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    for nulls in [false, true] {
        let answer = sample(document, answer, nulls);
        fake.answer(&answer);
        let found = call(client, id).await.unwrap_or_else(|| panic!("the client lacks {id}"));
        assert_eq!(found.unwrap(), names(&answer), "{id}");

        let asked = fake.take_asked();
        assert_eq!(asked.len(), 1, "{id}");
        assert_eq!(asked[0].line.split('?').next(), Some(&*line.to_lowercase()));
        assert_eq!(names(&asked[0].body), names(&sample(document, body, false)), "{id}");
    }
}

#[test]
fn codes_are_those_of_the_document() {
    let document = document();
    let codes = document["components"]["schemas"]["Refused"]["properties"]["code"]["enum"].clone();
    let expected: Names = serde_json::from_value(codes.clone()).unwrap();
    // What serde says that it knows.
    let unknown = serde_json::from_value::<Code>(json!("none")).unwrap_err().to_string();
    let found: Names = unknown.split('`').skip(3).step_by(2).map(String::from).collect();
    assert_eq!(found, expected);

    let read: Vec<Code> = serde_json::from_value(codes).unwrap();
    assert_eq!(read.iter().map(Code::to_string).collect::<Names>(), expected);
}

#[test]
fn types_of_events_are_those_of_the_document() {
    let rows = include_str!("../../../../docs/events.md").lines().filter_map(|line| {
        let types = line.strip_prefix("| `")?.split(" | ").next()?;
        types.contains('.').then_some(types)
    });
    let names =
        rows.flat_map(|types| types.split(['`', ',', ' ']).filter(|word| word.contains('.')));
    let expected: Names = names.map(String::from).collect();
    // What serde says that it knows.
    let body = json!({ "type": "none", "data": {} });
    let unknown = serde_json::from_value::<EventData>(body).unwrap_err().to_string();
    let found: Names = unknown.split('`').skip(3).step_by(2).map(String::from).collect();
    assert_eq!(found, expected);
}
