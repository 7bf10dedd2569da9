use serde_json::json;
use utoipa::openapi::schema::{Object, ObjectBuilder, SchemaType, Type};

/// The id in every example: a UUIDv7, as real ids are.
pub const EXAMPLE_ID: &str = "01a3185c-507b-7459-8475-1a0f4a2a0e58";

/// The schema of a project's additional claims, each of them text.
pub fn claims() -> Object {
    claims_of(Type::Object)
}

/// As [`claims`], where `null` leaves the claims unchanged.
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
        .description(Some(
            "Additional claims of live tokens whose `iss` is the project's own issuer.",
        ))
        .additional_properties(Some(text))
        .max_properties(Some(8))
        .examples([json!({ "role": "authenticated" })])
        .build()
}

/// The schema of a phone number in the forms that clients may write.
pub fn given_phone() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("An Indian mobile number: ten digits, with or without +91."))
        .pattern(Some(r"^(\+91)?[6-9][0-9]{9}$"))
        .examples([json!("+919876543210")])
        .build()
}
