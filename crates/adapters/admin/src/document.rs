use crate::endpoint::operation::{Head, Operation};
use crate::endpoint::refusal::AdminCode;
use crate::{BASE, resources};
use actix_web::http::StatusCode;
use dwar_operator::{Command, Makes, Need};
use dwar_wire::openapi::{
    common_headers, examples, header_references, headers_of, refusals, refused,
};
use serde_json::{Map, Value, json};

/// Which answer names what a part of a path stands for: operation, part, where in the answer. Other parts are
/// those of the request.
const NAMED_BY: [(&str, &str, &str); 9] = [
    ("list_projects", "project", "/items/0/project_id"),
    ("create_project", "project", "/project_id"),
    ("list_webhooks", "webhook", "/items/0/webhook_id"),
    ("add_webhook", "webhook", "/webhook/webhook_id"),
    ("list_requests", "request", "/items/0/request_id"),
    ("list_operators", "operator", "/items/0/operator_id"),
    ("list_tokens", "token", "/items/0/token_id"),
    ("find_identity", "identity", "/identity_id"),
    ("list_sessions", "session", "/items/0/session_id"),
];

/// The admin API as OpenAPI 3.1, from the same table that its routes are made from.
pub fn document() -> String {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    let codes: Vec<&str> = AdminCode::ALL.iter().map(|code| code.as_str()).collect();
    schemas.insert("Refused".to_owned(), refused(&codes));
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
            "headers": common_headers(),
            "examples": examples(AdminCode::ALL.iter().copied().map(AdminCode::refusal)),
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
    let codes = operation.all_codes().into_iter().map(AdminCode::refusal);
    let mut responses = refusals(codes, |status| told(operation, status));
    let done = json!({
        "description": "Done",
        "headers": told(operation, *status),
        "content": { *media_type: { "schema": schema } },
    });
    responses.insert(status.as_str().to_owned(), done);
    let links = links(command.as_str(), path);
    if !links.is_empty() {
        responses[status.as_str()]["links"] = links.into();
    }
    let mut described = json!({
        "operationId": command.as_str(),
        "summary": summary,
        "description": needs(*command),
        "tags": [tag],
        "x-right": command.needs().to_string(),
        "x-delegation": command.makes() != Makes::Nothing,
        "parameters": parameters,
        "responses": responses,
    });
    if let Some(schema) = &operation.body {
        described["requestBody"] =
            json!({ "required": true, "content": { "application/json": { "schema": schema } } });
    }
    described
}

/// From an answer to every operation whose path ends with what it names.
fn links(from: &str, own: &'static str) -> Map<String, Value> {
    let mut links = Map::new();
    for (_, named, pointer) in NAMED_BY.iter().filter(|(operation, _, _)| *operation == from) {
        for operation in resources::all().into_iter().flat_map(|(_, all)| all) {
            let Head { path, command, .. } = operation.head;
            if parts(path).last() != Some(named) {
                continue;
            }
            let known = |part: &&str| part == named || parts(own).any(|given| given == *part);
            let parameters: Map<String, Value> = parts(path)
                .filter(known)
                .map(|part| {
                    let of_answer = format!("$response.body#{pointer}");
                    let of_request = format!("$request.path.{part}");
                    let value = if part == *named { of_answer } else { of_request };
                    (part.to_owned(), json!(value))
                })
                .collect();
            let link = json!({ "operationId": command.as_str(), "parameters": parameters });
            links.insert(command.as_str().to_owned(), link);
        }
    }
    links
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

fn needs(command: Command) -> String {
    let need = command.needs();
    let whose = match need {
        Need::Any => "For every token; the answer holds what it may know of.".to_owned(),
        Need::Team => "For tokens that see the team of a project.".to_owned(),
        Need::Installation | Need::Own | Need::Machine => {
            "For tokens of owners of the installation.".to_owned()
        }
        Need::Project(_) => format!("For tokens that may {need} in the project."),
    };
    match command.makes() {
        Makes::Nothing => whose,
        _ => format!("{whose} Only if they may delegate: what this makes works without the token."),
    }
}

/// The headers of the answers with this status.
fn told(operation: &Operation, status: StatusCode) -> Value {
    let mut names = headers_of(status);
    if operation.codes.contains(&AdminCode::SearchRateLimited) && status == operation.head.status {
        names.extend(["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]);
    }
    header_references(&names)
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
