//! Calls of an operation from a shell.

use super::model::{Answer, Field, Operation};
use super::schema::plain;
use serde_json::{Value, json};

/// The call, with `$BASE` for the service and `$KEY` for the API key, which is sent in the header
/// `key`.
pub(super) fn call(operation: &Operation, key: Option<&Field>) -> String {
    let has_body = !operation.body.is_empty();
    let is_plain = operation.method == if has_body { "POST" } else { "GET" };
    let method = if is_plain { String::new() } else { format!("-X {} ", operation.method) };
    let mut lines = vec![format!("curl -s {method}{}", target(operation))];
    if let Some(key) = key.filter(|_| operation.needs_key) {
        lines.push(format!("-H \"{}: $KEY\"", key.name));
    }
    if operation.needs_token {
        lines.push("-H \"Authorization: Bearer $ACCESS_TOKEN\"".to_owned());
    }
    if operation.takes_form {
        let needed = operation.body.iter().filter(|field| !field.optional);
        let example = |field: &Field| field.example.as_ref().map(plain).unwrap_or_default();
        let pair = |field: &Field| format!("-d '{}={}'", field.name, example(field));
        lines.extend(needed.map(pair));
    } else if has_body {
        let needed = operation.body.iter().filter(|field| !field.optional);
        let body = object(needed, None).replace('\'', r"'\''");
        lines.push("-H 'Content-Type: application/json'".to_owned());
        lines.push(format!("-d '{body}'"));
    }
    lines.join(" \\\n  ")
}

/// The body of an answer, one member per line; `None` if it has none.
pub(super) fn answer(answer: &Answer) -> Option<String> {
    (!answer.fields.is_empty()).then(|| object(answer.fields.iter(), Some(0)))
}

fn target(operation: &Operation) -> String {
    let of_place = |place: &'static str| {
        let all = operation.parameters.iter();
        all.filter(move |it| it.place == place && !it.optional)
    };
    let mut target = format!("$BASE{}", operation.path);
    for field in of_place("path") {
        target = target.replace(&format!("{{{}}}", field.name), &in_address(field));
    }
    let pairs = of_place("query").map(|field| format!("{}={}", field.name, in_address(field)));
    let query = pairs.collect::<Vec<_>>().join("&");
    // A shell would interpret the question mark as a pattern.
    if query.is_empty() { target } else { format!("\"{target}?{query}\"") }
}

fn in_address(field: &Field) -> String {
    let Some(example) = &field.example else {
        return format!("${}", field.name.to_ascii_uppercase());
    };
    form_urlencoded::byte_serialize(plain(example).as_bytes()).collect()
}

/// A JSON object of these members, in order. With a depth, each is on its own line.
fn object<'a>(members: impl Iterator<Item = &'a Field>, depth: Option<usize>) -> String {
    let line = |depth: usize| format!("\n{}", "  ".repeat(depth));
    let inner = depth.map(|depth| depth + 1);
    let (start, end) = (inner.map(line).unwrap_or_default(), depth.map(line).unwrap_or_default());
    let colon = if depth.is_some() { ": " } else { ":" };
    let member = |it: &Field| format!("{start}{}{colon}{}", json!(it.name), value(it, inner));
    let members: Vec<String> = members.map(member).collect();
    format!("{{{}{end}}}", members.join(","))
}

fn value(field: &Field, depth: Option<usize>) -> String {
    if let (Some(example), []) = (&field.example, field.members.as_slice()) {
        return example.to_string();
    }
    if !field.members.is_empty() {
        let object = object(field.members.iter(), depth);
        return if field.is_array { format!("[{object}]") } else { object };
    }
    let placeholder = match field.kind.split(' ').next() {
        Some("integer" | "number") => json!(0),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => Value::from("…"),
    };
    placeholder.to_string()
}
