//! The document and its committed copy.

use dwar_http::document;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const FILE: &str = "../../../docs/openapi.json";

fn read(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

#[test]
fn the_committed_document_is_what_the_routes_are_made_from() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os("DWAR_WRITE_DOCS").is_some() {
        fs::write(&file, document()).unwrap();
    }
    // The order of keys depends on the other crates of the build.
    let committed = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        read(&committed) == read(&document()),
        "docs/openapi.json is not what the code says; `DWAR_WRITE_DOCS=1 cargo test -p dwar-http \
         --test api document` writes it anew"
    );
}

fn operations(document: &Value) -> Vec<&Value> {
    let paths = document["paths"].as_object().unwrap();
    paths.values().flat_map(|path| path.as_object().unwrap().values()).collect()
}

#[test]
fn links_lead_to_operations_that_there_are() {
    let document = read(&document());
    let all = operations(&document);
    let ids: BTreeSet<&str> = all.iter().map(|one| one["operationId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), all.len());
    let mut led_to = BTreeSet::new();
    for operation in all {
        let links = operation["responses"]["200"]["links"].as_object();
        for link in links.into_iter().flat_map(|links| links.values()) {
            let to = link["operationId"].as_str().unwrap();
            assert!(ids.contains(to), "{to}");
            led_to.insert(to.to_owned());
        }
    }
    // All operations that use a value of an answer.
    assert_eq!(led_to.len(), 9, "{led_to:?}");
}

#[test]
fn every_member_has_bounds_and_an_example() {
    fn visit(name: &str, schema: &Value) {
        for (member, described) in schema["properties"].as_object().into_iter().flatten() {
            let path = format!("{name}.{member}");
            let kinds = described["type"].to_string();
            let has = |keys: &[&str]| keys.iter().any(|key| !described[*key].is_null());
            if kinds.contains("string") {
                assert!(has(&["enum", "format", "pattern", "maxLength"]), "{path} has no bound");
            }
            if kinds.contains("integer") {
                assert!(has(&["minimum"]), "{path} has no bound");
            }
            if kinds.contains("array") {
                assert!(has(&["maxItems"]), "{path} has no bound");
            } else if !has(&["$ref"]) {
                assert!(has(&["enum", "examples", "example"]), "{path} has no example");
            }
            visit(&path, described);
        }
    }
    let document = read(&document());
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if name != "Refused" {
            visit(name, schema);
        }
    }
}
