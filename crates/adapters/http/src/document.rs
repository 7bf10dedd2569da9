use crate::error::ErrorCode;
use crate::handlers;
use dwar_wire::openapi::{OpenApi, header};
use serde_json::json;

const ABOUT: &str = "Phone one-time passwords for India: send a code by WhatsApp or SMS, verify it, \
    and keep the session that it opens.\n\n\
    A request that is not HTTP/1.0 or 1.1, or whose head is too long or comes too slowly, is refused before any \
    operation, with `INVALID_REQUEST` and 400, 408 or 431; a method that a path does not have with \
    `METHOD_NOT_ALLOWED` and 405; any other path with `NOT_FOUND` and 404, under `/v1/` only with a valid \
    key.";

/// Renders the OpenAPI 3.1 document of the public API from the table that its routes are made from.
pub fn document() -> String {
    let key = json!({
        "type": "apiKey",
        "in": "header",
        "name": "X-Api-Key",
        "description": "A key of a project: svc_live_… or svc_test_…",
    });
    let token = json!({
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "The access token to judge.",
    });
    let basic = json!({
        "type": "http",
        "scheme": "basic",
        "description": "A key of a project as the password; any user name.",
    });
    let request_id = json!({
        "name": "X-Request-Id",
        "in": "header",
        "required": false,
        "description": "Your id for the request: 1 to 64 visible ASCII characters. Any other \
                        value is replaced by a new id.",
        "schema": { "type": "string" },
    });
    let of_any_site =
        header("Pages of any site may read the answer.", true, json!({ "const": "*" }));
    let again = header(
        "Present if this is the stored answer to an earlier request with the same key.",
        false,
        json!({ "const": "true" }),
    );
    let identity =
        header("Identity of the session.", true, json!({ "type": "string", "format": "uuid" }));
    let session = header("Id of the session.", true, json!({ "type": "string", "format": "uuid" }));
    let version = header("Version of the key set.", true, json!({ "type": "string" }));
    let api = OpenApi {
        title: "Dwar API",
        description: ABOUT,
        server: "http://127.0.0.1:8080",
        base: "",
        security: vec![("api_key", key), ("access_token", token), ("basic", basic)],
        refusals: ErrorCode::ALL.iter().copied().map(Into::into).collect(),
        headers: vec![
            ("Access-Control-Allow-Origin", of_any_site),
            ("Idempotent-Replayed", again),
            ("ETag", version),
            ("X-Dwar-Identity", identity),
            ("X-Dwar-Session", session),
        ],
        parameters: vec![("RequestId", request_id)],
    };
    api.document(handlers::operations())
}
