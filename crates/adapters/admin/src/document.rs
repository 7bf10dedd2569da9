use crate::endpoint::AdminCode;
use crate::{BASE, resources};
use dwar_wire::openapi::{OpenApi, Operation};
use serde_json::{Map, Value, json};

/// The answers that name a part of a path: operation, part, and the place in the answer. Other
/// parts come from the request.
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

/// Renders the OpenAPI 3.1 document of the admin API from the table that its routes are made from.
pub fn document() -> String {
    let token = json!({
        "type": "http",
        "scheme": "bearer",
        "description": "A token from `dwar admin-token add` or the page Admin tokens: svc_adm_…",
    });
    let api = OpenApi {
        title: "Dwar admin API",
        description: "The work of operators, for programs. Only the dashboard's listener \
                      serves this API.",
        server: "http://127.0.0.1:8081",
        base: BASE,
        security: vec![("admin_token", token)],
        refusals: AdminCode::ALL.iter().copied().map(Into::into).collect(),
        headers: Vec::new(),
        parameters: Vec::new(),
    };
    let operations = resources::all();
    let all: Vec<_> = operations.iter().map(|operation| (operation.id, operation.path)).collect();
    api.document(operations.into_iter().map(|operation| linked(operation, &all)))
}

/// Adds links from the operation's answer to each operation of `all` whose path ends with a part
/// that the answer names.
fn linked(mut operation: Operation, all: &[(&str, &'static str)]) -> Operation {
    let (own, own_id) = (operation.path, operation.id);
    for (_, named, pointer) in NAMED_BY.iter().filter(|(from, _, _)| *from == own_id) {
        for (id, path) in all.iter().filter(|(_, path)| parts(path).last() == Some(named)) {
            let known = |part: &&str| part == named || parts(own).any(|given| given == *part);
            let value = |part: &'static str| match part == *named {
                true => (part.to_owned(), json!(format!("$response.body#{pointer}"))),
                false => (part.to_owned(), json!(format!("$request.path.{part}"))),
            };
            let parameters: Map<String, Value> = parts(path).filter(known).map(value).collect();
            operation = operation.link(id, id, json!({ "parameters": parameters }));
        }
    }
    operation
}

fn parts(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn no_name_of_a_schema_stands_for_two_shapes() {
        let mut known: BTreeMap<String, Value> = BTreeMap::new();
        for operation in resources::all() {
            for (name, schema) in operation.schemas {
                let before = known.entry(name.clone()).or_insert_with(|| schema.clone());
                assert_eq!(*before, schema, "{name}");
            }
        }
    }
}
