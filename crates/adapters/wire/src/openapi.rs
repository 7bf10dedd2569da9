//! What every OpenAPI 3.1 document of ours is made of.

use crate::{Refused, StatusCode};
use serde_json::{Map, Value, json};
use utoipa::ToSchema;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// Schemas by name, as they go into a document.
pub type Schemas = Vec<(String, Value)>;

/// A row of a table of refusals: the stable word, the status, the sentence.
pub type Refusal = (&'static str, StatusCode, &'static str);

/// A reference to a schema, which goes into `schemas` with all that it refers to.
pub fn reference<T: ToSchema>(schemas: &mut Schemas) -> Value {
    let mut found = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut found);
    let json = |schema| serde_json::to_value(schema).unwrap_or_default();
    schemas.extend(found.into_iter().map(|(name, schema)| (name, json(schema))));
    json!({ "$ref": format!("#/components/schemas/{}", T::name()) })
}

/// The body of a refusal, for the schemas of a document.
pub fn refused(codes: &[&str]) -> Value {
    json!({
        "type": "object",
        "required": ["error", "code", "request_id"],
        "properties": {
            "error": {
                "type": "string",
                "description": "A sentence for people.",
                "maxLength": Refused::LONGEST,
            },
            "code": { "type": "string", "enum": codes, "description": "Stable; switch on it." },
            "request_id": {
                "type": "string",
                "description": "Also in X-Request-Id, and in the log.",
                "minLength": 1,
                "maxLength": 64,
            },
        },
    })
}

/// The answers that refuse, by status: each names the codes that it can have, with its example. `headers`
/// are those of a status.
pub fn refusals(
    codes: impl IntoIterator<Item = Refusal>,
    headers: impl Fn(StatusCode) -> Value,
) -> Map<String, Value> {
    let mut answers = Map::new();
    for (code, status, _) in codes {
        let answer = answers.entry(status.as_str()).or_insert_with(|| {
            let schema = json!({
                "allOf": [{ "$ref": "#/components/schemas/Refused" }],
                "properties": { "code": { "enum": [] } },
            });
            json!({
                "description": status.canonical_reason().unwrap_or("Refused"),
                "headers": headers(status),
                "content": { "application/json": { "schema": schema, "examples": {} } },
            })
        });
        let content = &mut answer["content"]["application/json"];
        let known = &mut content["schema"]["properties"]["code"]["enum"];
        if let Some(known) = known.as_array_mut().filter(|known| !known.contains(&json!(code))) {
            known.push(json!(code));
        }
        content["examples"][code] = json!({ "$ref": format!("#/components/examples/{code}") });
    }
    answers
}

/// An answer for each code, for the examples of a document.
pub fn examples(codes: impl IntoIterator<Item = Refusal>) -> Value {
    let example = |(code, _, sentence): Refusal| {
        let value = json!({ "error": sentence, "code": code, "request_id": EXAMPLE_ID });
        (code.to_owned(), json!({ "value": value }))
    };
    codes.into_iter().map(example).collect::<Map<_, _>>().into()
}

/// An id for examples.
pub const EXAMPLE_ID: &str = "01a3185c-507b-7459-8475-1a0f4a2a0e58";

/// A header, for those of a document.
pub fn header(description: &str, required: bool, schema: Value) -> Value {
    json!({ "description": description, "required": required, "schema": schema })
}

/// The headers that every answer of ours with this status has.
pub fn headers_of(status: StatusCode) -> Vec<&'static str> {
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
pub fn header_references(names: &[&str]) -> Value {
    let refer = |name: &str| json!({ "$ref": format!("#/components/headers/{name}") });
    names.iter().map(|name| ((*name).to_owned(), refer(name))).collect::<Map<_, _>>().into()
}

/// The headers that answers of every API of ours have.
pub fn common_headers() -> Value {
    let limit =
        |description| header(description, false, json!({ "type": "integer", "minimum": 0 }));
    let text = json!({ "type": "string" });
    let visible = json!({ "type": "string", "pattern": "^[!-~]{1,64}$" });
    json!({
        "X-Request-Id": header("As it came, or a fresh one; also in the log.", true, visible),
        "X-Content-Type-Options": header("Always the same.", true, json!({ "const": "nosniff" })),
        "Cache-Control": header("Whether the answer may be kept.", true, text.clone()),
        "WWW-Authenticate": header("RFC 9110 section 11.6.1.", true, text),
        "Retry-After": header(
            "Seconds to wait before the next try.",
            true,
            json!({ "type": "integer", "minimum": 1 }),
        ),
        "RateLimit-Limit": limit("How many there may be in a window of the limit that was counted."),
        "RateLimit-Remaining": limit("How many are left."),
        "RateLimit-Reset": limit("Seconds until one more is free, or a locked code expires."),
    })
}

/// Claims of a project, each a text.
pub fn claims() -> Object {
    claims_of(Type::Object)
}

/// The same, where `null` leaves them as they are.
pub fn given_claims() -> Object {
    let name = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(r"^([a-z][a-z0-9_]{0,30}|https://[A-Za-z0-9][A-Za-z0-9._:/#~-]{0,55})$"));
    let mut claims = claims_of(SchemaType::from_iter([Type::Object, Type::Null]));
    claims.property_names = Some(Box::new(name.into()));
    claims
}

fn claims_of(kind: impl Into<SchemaType>) -> Object {
    let text = ObjectBuilder::new().schema_type(Type::String).max_length(Some(512));
    ObjectBuilder::new()
        .schema_type(kind)
        .description(Some("What live tokens say beside the claims of every token, if they name an issuer of the project's own."))
        .additional_properties(Some(text))
        .max_properties(Some(8))
        .examples([json!({ "role": "authenticated" })])
        .build()
}

/// A phone number as clients may write it.
pub fn given_phone() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("An Indian mobile number: ten digits, with or without +91."))
        .pattern(Some(r"^(\+91)?[6-9][0-9]{9}$"))
        .examples([json!("+919876543210")])
        .build()
}
