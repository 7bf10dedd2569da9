use crate::endpoint::operation::{Head, Operation};
use crate::endpoint::refusal::AdminCode;
use crate::{BASE, resources};
use dwar_operator::Need;
use serde_json::{Map, Value, json};

/// The admin API as OpenAPI 3.1, from the same table that its routes are made from.
pub fn document() -> String {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    schemas.insert("Refused".to_owned(), refused());
    for (tag, of_resource) in resources::all() {
        for operation in of_resource {
            let path = paths.entry(format!("{BASE}{}", operation.head.path)).or_insert(json!({}));
            let method = operation.head.method.as_str().to_ascii_lowercase();
            path[method] = described(tag, &operation);
            schemas.extend(operation.schemas);
        }
    }
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Dwar admin API",
            "version": "1",
            "description": "What those who run Dwar do, for programs. It is served on the dashboard's listener and nowhere else.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "http://127.0.0.1:8081", "description": "As a fresh development start has it" }],
        "security": [{ "admin_token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "admin_token": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token that `dwar admin-token add` or the page Admin tokens made: svc_adm_…",
                },
            },
            "schemas": schemas,
        },
    });
    // A map without an order of its own is written by name.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn described(tag: &str, operation: &Operation) -> Value {
    let Head { path, command, summary, status, .. } = &operation.head;
    let (media_type, schema) = &operation.answer;
    let parameters: Vec<Value> =
        parts(path).map(parameter).chain(operation.query.iter().cloned()).collect();
    let mut described = json!({
        "operationId": command.as_str(),
        "summary": summary,
        "description": needs(command.needs()),
        "tags": [tag],
        "x-right": command.needs().to_string(),
        "parameters": parameters,
        "responses": {
            status.as_str(): {
                "description": "Done",
                "content": { *media_type: { "schema": schema } },
            },
            "4XX": {
                "description": "Refused",
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Refused" } } },
            },
            "5XX": {
                "description": "Failed",
                "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Refused" } } },
            },
        },
    });
    if let Some(schema) = &operation.body {
        described["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    described
}

/// The names between braces.
fn parts(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

fn parameter(name: &str) -> Value {
    let schema = match name {
        "mode" => json!({ "type": "string", "enum": ["live", "test"] }),
        _ => json!({ "type": "string", "format": "uuid" }),
    };
    json!({ "name": name, "in": "path", "required": true, "schema": schema })
}

fn needs(need: Need) -> String {
    match need {
        Need::Any => "For every token; the answer holds what it may know of.".to_owned(),
        Need::Team => "For tokens that see the team of a project.".to_owned(),
        Need::Installation | Need::Own | Need::Machine => {
            "For tokens of owners of the installation.".to_owned()
        }
        Need::Project(_) => format!("For tokens that may {need} in the project."),
    }
}

fn refused() -> Value {
    let codes: Vec<&str> = AdminCode::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "required": ["error", "code", "request_id"],
        "properties": {
            "error": { "type": "string", "description": "A sentence for people." },
            "code": { "type": "string", "enum": codes, "description": "Stable; switch on it." },
            "request_id": { "type": "string", "description": "Also in X-Request-Id, and in the log." },
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn no_name_of_a_schema_stands_for_two_shapes() {
        let mut known: BTreeMap<String, Value> = BTreeMap::new();
        for operation in resources::all().into_iter().flat_map(|(_, all)| all) {
            for (name, schema) in operation.schemas {
                let before = known.entry(name.clone()).or_insert_with(|| schema.clone());
                assert_eq!(*before, schema, "{name}");
            }
        }
    }
}
