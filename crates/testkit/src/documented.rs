//! Compares answers of an HTTP API with its OpenAPI document.

use jsonschema::{Draft, Validator};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Headers of HTTP and of browser security, which no document lists.
const OF_HTTP: [&str; 15] = [
    "content-type",
    "content-length",
    "date",
    "connection",
    "transfer-encoding",
    "vary",
    "content-disposition",
    "server",
    "content-security-policy",
    "cross-origin-opener-policy",
    "cross-origin-resource-policy",
    "permissions-policy",
    "referrer-policy",
    "strict-transport-security",
    "x-frame-options",
];

/// An OpenAPI 3.1 document, and which of its refusals were seen so far.
pub struct Documented {
    document: Value,
    seen: Mutex<BTreeSet<(String, String)>>,
    /// Cached by schema: building a validator takes longer than answering a request.
    validators: Mutex<BTreeMap<String, Arc<Validator>>>,
}

#[derive(Clone, Copy, Debug)]
pub struct SeenAnswer<'a> {
    pub method: &'a str,
    /// Without the query.
    pub path: &'a str,
    /// The number only.
    pub status: u16,
    pub headers: &'a [(String, String)],
    /// Empty for `HEAD`.
    pub body: &'a [u8],
}

impl Documented {
    /// Parses a document as it is served.
    ///
    /// # Panics
    /// If it is not JSON.
    pub fn new(text: &str) -> Self {
        let mut document: Value = serde_json::from_str(text).expect("a document");
        close(&mut document["components"]["schemas"]);
        Self { document, seen: Mutex::default(), validators: Mutex::default() }
    }

    /// Every operation with each of its error codes, as (operation id, code).
    pub fn refusals(&self) -> BTreeSet<(String, String)> {
        let mut all = BTreeSet::new();
        for operation in self.operations() {
            for answer in members(&operation["responses"]) {
                let codes = &answer.1["content"]["application/json"]["schema"]["properties"];
                for code in codes["code"]["enum"].as_array().into_iter().flatten() {
                    all.insert((text(&operation["operationId"]), text(code)));
                }
            }
        }
        all
    }

    pub fn seen(&self) -> BTreeSet<(String, String)> {
        lock(&self.seen).clone()
    }

    /// Checks that status, headers and body of an answer are documented. Requests for which the document has
    /// no operation are ignored.
    ///
    /// # Panics
    /// If the answer differs from the document; the message says how.
    pub fn hold(&self, answer: SeenAnswer<'_>) {
        let Some(operation) = self.operation(answer.method, answer.path) else { return };
        let id = text(&operation["operationId"]);
        let found = &operation["responses"][answer.status.to_string()];
        let told = String::from_utf8_lossy(answer.body);
        assert!(found.is_object(), "{id} answers {} {told}", answer.status);
        self.hold_headers(&id, found, answer);
        if answer.method == "HEAD" {
            return;
        }
        let Some((kind, media)) = members(&found["content"]).next() else {
            assert!(answer.body.is_empty(), "{id} has no body for {}: {told}", answer.status);
            return;
        };
        let given = header(answer, "content-type").unwrap_or_default();
        assert!(given.starts_with(kind.as_str()), "{id} {} is {given:?}", answer.status);
        if kind == "application/json" {
            let body = serde_json::from_slice(answer.body).expect("JSON");
            self.hold_value(&format!("{id} {}", answer.status), &media["schema"], &body);
            if let Some(code) = body["code"].as_str() {
                let pair = (id, code.to_owned());
                lock(&self.seen).insert(pair);
            }
        }
    }

    fn hold_headers(&self, id: &str, found: &Value, answer: SeenAnswer<'_>) {
        let status = answer.status;
        let known: Vec<(String, &Value)> = members(&found["headers"])
            .map(|(name, header)| (name.to_lowercase(), self.resolved(header)))
            .collect();
        for (name, described) in &known {
            let Some(value) = header(answer, name) else {
                assert!(described["required"] != json!(true), "{id} {status} lacks {name}");
                continue;
            };
            let number = || value.parse::<i64>().map(Value::from).unwrap_or_default();
            let value = match &described["schema"]["type"] {
                Value::String(kind) if kind == "integer" => number(),
                _ => json!(value),
            };
            self.hold_value(&format!("{id} {status} {name}"), &described["schema"], &value);
        }
        for (name, _) in answer.headers {
            let listed = known.iter().any(|(known, _)| known == name);
            assert!(listed || OF_HTTP.contains(&name.as_str()), "{id} {status} has {name} too");
        }
    }

    fn hold_value(&self, what: &str, schema: &Value, value: &Value) {
        let problems: Vec<String> =
            self.validator(what, schema).iter_errors(value).map(|it| it.to_string()).collect();
        // A body may be too long to be read in full.
        let shown = |text: String| format!("{text:.1000}");
        assert!(
            problems.is_empty(),
            "{what}: {}\n{}",
            shown(problems.join("; ")),
            shown(value.to_string())
        );
    }

    fn validator(&self, what: &str, schema: &Value) -> Arc<Validator> {
        let build = || {
            let mut whole = schema.clone();
            whole["components"] = self.document["components"].clone();
            let options = jsonschema::options().with_draft(Draft::Draft202012);
            Arc::new(options.should_validate_formats(true).build(&whole).expect("a schema"))
        };
        Arc::clone(lock(&self.validators).entry(what.to_owned()).or_insert_with(build))
    }

    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        let pointer = value["$ref"].as_str().and_then(|reference| reference.strip_prefix('#'));
        pointer.and_then(|pointer| self.document.pointer(pointer)).unwrap_or(value)
    }

    fn operations(&self) -> Vec<&Value> {
        let paths = members(&self.document["paths"]);
        paths.flat_map(|(_, path)| members(path).map(|(_, operation)| operation)).collect()
    }

    /// The operation of a request; a fixed path takes precedence over a pattern.
    fn operation(&self, method: &str, path: &str) -> Option<&Value> {
        let method = if method == "HEAD" { "get".to_owned() } else { method.to_lowercase() };
        let fits = |(pattern, _): &(&String, &Value)| {
            let mut parts = pattern.split('/').zip(path.split('/'));
            pattern.split('/').count() == path.split('/').count()
                && parts.all(|(wanted, given)| wanted.starts_with('{') || wanted == given)
        };
        let found = members(&self.document["paths"]).filter(fits);
        found.min_by_key(|(pattern, _)| pattern.matches('{').count())?.1.get(&method)
    }
}

/// Forbids members that a schema does not name, at every depth.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".to_owned(), json!(false));
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn header<'a>(answer: SeenAnswer<'a>, name: &str) -> Option<&'a str> {
    answer.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
