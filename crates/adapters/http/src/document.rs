use crate::error::ErrorCode;
use crate::handlers;
use crate::operation::Operation;
use crate::request_id::is_well_known;
use actix_web::http::StatusCode;
use dwar_wire::openapi::{
    common_headers, examples, header, header_references, headers_of, refusals, refused,
};
use serde_json::{Map, Value, json};

const ABOUT: &str = "Phone one-time passwords for India: send a code by WhatsApp or SMS, verify it, \
    and keep the session that it opens.\n\n\
    A request that is no HTTP/1.1, or whose head is too long or comes too slowly, is refused before any \
    operation, with `INVALID_REQUEST` and 400, 408 or 431; a method that a path does not have with \
    `METHOD_NOT_ALLOWED` and 405; any other path with `NOT_FOUND` and 404, under `/v1/` only with a valid \
    key.";

/// The public API as OpenAPI 3.1, from the same table that its routes are made from.
pub fn document() -> String {
    let (mut paths, mut schemas) = (Map::new(), Map::new());
    let mut headers = common_headers();
    for (name, header) in own_headers() {
        headers[name] = header;
    }
    let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
    schemas.insert("Refused".to_owned(), refused(&codes));
    for operation in handlers::operations() {
        let path = paths.entry(operation.path).or_insert(json!({}));
        path[operation.method.as_str().to_ascii_lowercase()] = described(&operation);
        schemas.extend(operation.schemas);
    }
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Dwar API",
            "version": "1",
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{
            "url": "http://127.0.0.1:8080",
            "description": "As a fresh development start has it",
        }],
        "security": [{ "api_key": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "headers": headers,
            "examples": examples(ErrorCode::ALL.iter().copied().map(ErrorCode::refusal)),
            "parameters": { "RequestId": {
                "name": "X-Request-Id",
                "in": "header",
                "required": false,
                "description": "Your name for the request, if it is 1 to 64 visible ASCII characters; else it gets \
                    another.",
                "schema": { "type": "string" },
            } },
            "securitySchemes": { "api_key": {
                "type": "apiKey",
                "in": "header",
                "name": "X-Api-Key",
                "description": "A key of a project: svc_live_… or svc_test_…",
            } },
        },
    });
    // A map without an order of its own is written by name.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn described(operation: &Operation) -> Value {
    let request_id = json!({ "$ref": "#/components/parameters/RequestId" });
    let parameters: Vec<Value> = operation.parameters.iter().cloned().chain([request_id]).collect();
    let codes = operation.all_codes().into_iter().map(ErrorCode::refusal);
    let mut responses = refusals(codes, |status| told(operation, status));
    for (status, answer) in &operation.answers {
        let mut answer = answer.clone();
        let status: StatusCode = status.parse().unwrap_or_default();
        answer["headers"] = told(operation, status);
        responses.insert(status.as_str().to_owned(), answer);
    }
    let mut described = json!({
        "operationId": operation.id,
        "summary": operation.summary,
        "description": operation.description,
        "tags": [operation.tag],
        "parameters": parameters,
        "responses": responses,
    });
    if !operation.needs_key() {
        described["security"] = json!([]);
    }
    if let Some(body) = &operation.body {
        described["requestBody"] = body.clone();
    }
    described
}

/// The headers of the answers with this status.
fn told(operation: &Operation, status: StatusCode) -> Value {
    let mut names = headers_of(status);
    if operation.needs_key() {
        names.extend(["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"]);
    }
    if is_well_known(operation.path) {
        names.push("Access-Control-Allow-Origin");
    }
    let own = operation.headers.iter().filter(|(_, of)| *of == status);
    names.extend(own.map(|(name, _)| *name));
    header_references(&names)
}

/// Headers of this API alone.
fn own_headers() -> [(&'static str, Value); 3] {
    [
        (
            "Access-Control-Allow-Origin",
            header("Pages of any site may read it.", true, json!({ "const": "*" })),
        ),
        (
            "Idempotent-Replayed",
            header(
                "There if this is the first answer once more.",
                false,
                json!({ "const": "true" }),
            ),
        ),
        ("ETag", header("Names this version of the set.", true, json!({ "type": "string" }))),
    ]
}
