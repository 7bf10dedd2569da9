use crate::StatusCode;
use serde_json::{Map, Value, json};

/// Headers of an answer that is subject to a rate limit.
pub(super) const RATE_LIMIT: [&str; 3] =
    ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"];

/// Makes a header object for the components of a document.
pub fn header(description: &str, required: bool, schema: Value) -> Value {
    json!({ "description": description, "required": required, "schema": schema })
}

/// The headers of every answer with this status.
pub(super) fn headers_of(status: StatusCode) -> Vec<&'static str> {
    let mut names = vec!["X-Request-Id", "X-Content-Type-Options", "Cache-Control"];
    match status {
        StatusCode::UNAUTHORIZED => names.push("WWW-Authenticate"),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            names.push("Retry-After");
        }
        _ => {}
    }
    names
}

/// References to headers of a document by their names.
pub(super) fn header_references(names: &[&str]) -> Value {
    let refer = |name: &str| json!({ "$ref": format!("#/components/headers/{name}") });
    names.iter().map(|name| ((*name).to_owned(), refer(name))).collect::<Map<_, _>>().into()
}

/// The headers that the answers of every API have.
pub(super) fn common_headers() -> Map<String, Value> {
    let limit =
        |description| header(description, false, json!({ "type": "integer", "minimum": 0 }));
    let text = json!({ "type": "string" });
    let visible = json!({ "type": "string", "pattern": "^[!-~]{1,64}$" });
    let seconds = json!({ "type": "integer", "minimum": 1 });
    [
        (
            "X-Request-Id",
            header("Id of the request: yours or a new one; also in the log.", true, visible),
        ),
        (
            "X-Content-Type-Options",
            header("Always `nosniff`.", true, json!({ "const": "nosniff" })),
        ),
        ("Cache-Control", header("Whether the answer may be cached.", true, text.clone())),
        (
            "WWW-Authenticate",
            header("The accepted kind of credentials, RFC 9110 section 11.6.1.", true, text),
        ),
        ("Retry-After", header("Seconds to wait before the next try.", true, seconds)),
        ("RateLimit-Limit", limit("Requests allowed per window of the limit that was counted.")),
        ("RateLimit-Remaining", limit("Requests left in the window.")),
        (
            "RateLimit-Reset",
            limit("Seconds until the next request is allowed, or until a locked code expires."),
        ),
    ]
    .map(|(name, header)| (name.to_owned(), header))
    .into_iter()
    .collect()
}
