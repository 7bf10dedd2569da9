//! Schemas that several bodies share.

use crate::body::SMALL;
use dwar_event::FeedLimit;
use dwar_kernel::KeyMode;
use dwar_otp::RelayLifetime;
use dwar_otp::idempotency::IdempotencyKey;
use dwar_otp::{AttemptStatus, Channel, DeliveryStatus, Reason};
use dwar_wire::openapi::EXAMPLE_ID;
pub(crate) use dwar_wire::openapi::given_phone;
use serde_json::json;
use utoipa::openapi::schema::{
    AdditionalProperties, ObjectBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{KnownFormat, Object};

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn word(words: &[&str]) -> ObjectBuilder {
    text().enum_values(Some(words.to_vec())).examples([json!(words.first())])
}

fn word_or_null(words: &[&str]) -> ObjectBuilder {
    let all = words.iter().map(|word| json!(word)).chain([json!(null)]);
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .enum_values(Some(all))
        .examples([json!(words.first())])
}

pub(crate) fn id() -> Object {
    let format = SchemaFormat::Custom("uuid".to_owned());
    text().format(Some(format)).examples([json!(EXAMPLE_ID)]).build()
}

pub(crate) fn id_or_null() -> Object {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .format(Some(SchemaFormat::Custom("uuid".to_owned())))
        .description(Some("Request that the code must belong to; null or absent accepts the current code of the phone."))
        .examples([json!(EXAMPLE_ID)])
        .build()
}

pub(crate) fn instant() -> Object {
    text()
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .description(Some("RFC 3339, UTC, whole milliseconds."))
        .examples([json!("2027-01-15T08:10:00.123Z")])
        .build()
}

pub(crate) fn phone() -> Object {
    text()
        .description(Some("Phone number in E.164."))
        .pattern(Some(r"^\+91[6-9][0-9]{9}$"))
        .examples([json!("+919876543210")])
        .build()
}

pub(crate) fn code() -> Object {
    let six = Some("^[0-9]{6}$");
    text().description(Some("Six digits.")).pattern(six).examples([json!("482913")]).build()
}

pub(crate) fn relayed_code() -> Object {
    let said = Some("Your code: 4 to 10 digits.");
    text().description(said).pattern(Some(DIGITS)).examples([json!("48291")]).build()
}

pub(crate) fn visitor() -> Object {
    let address = ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .description(Some(
            "IPv4 or IPv6 address of the visitor, as your own proxy reports it. Only a keyed digest is kept.",
        ))
        .min_length(Some(2))
        .max_length(Some(45))
        .examples([json!("203.0.113.7"), json!("2001:db8::1")]);
    let trusted = ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Boolean, Type::Null]))
        .description(Some(
            "Whether the visitor has passed a challenge of yours, such as a captcha. Never copy it from what \
             the visitor sends: a bot would then vouch for itself.",
        ))
        .examples([json!(true)]);
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Object, Type::Null]))
        .property("address", address)
        .property("trusted", trusted)
        .examples([json!({ "address": "203.0.113.7" })])
        .build()
}

pub(crate) fn last_line() -> Object {
    let said = Some(
        "A host name, or an app hash of 11 characters. Absent or `null` means the project's own.",
    );
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .description(said)
        .min_length(Some(1))
        .max_length(Some(253))
        .examples([json!(null), json!("FA+9qCX9VSu")])
        .build()
}

/// Most characters of `device`, several times as many as a token has.
pub(crate) const LONGEST_DEVICE: usize = 512;

pub(crate) fn device() -> Object {
    let said = Some(
        "`device` from the answer of an earlier verify of this phone. Any other text is treated as \
         if it were absent.",
    );
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .description(said)
        .max_length(Some(LONGEST_DEVICE))
        .examples([json!("svc_dt_…")])
        .build()
}

pub(crate) fn sent_code() -> Object {
    let said = Some("Six digits; 4 to 10 for a relayed code.");
    text().description(said).pattern(Some(DIGITS)).examples([json!("482913")]).build()
}

const DIGITS: &str = "^[0-9]{4,10}$";

pub(crate) fn relay_lifetime() -> Object {
    let bounds = RelayLifetime::SECONDS;
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .description(Some("For how many seconds the code is valid; nothing is sent after that."))
        .minimum(Some(*bounds.start()))
        .maximum(Some(*bounds.end()))
        .examples([json!(600)])
        .build()
}

pub(crate) fn reference() -> Object {
    let said = "Works as an `Idempotency-Key`, for callers that cannot vary their headers. \
                Absent and `null` mean the same: none.";
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::String, Type::Null]))
        .description(Some(said))
        .pattern(Some(format!("^[!-~]{{1,{}}}$", IdempotencyKey::LONGEST_REFERENCE)))
        .examples([json!("courier-0199a000")])
        .build()
}

pub(crate) fn token() -> Object {
    token_of(4_096)
}

/// As long as the body allows. A token that is too long to be one of Dwar's is inactive like any
/// other text.
pub(crate) fn introspected_token() -> Object {
    token_of(SMALL - "token=".len())
}

fn token_of(longest: usize) -> Object {
    let example = [json!("eyJhbGciOiJFUzI1NiIs…")];
    text().min_length(Some(1)).max_length(Some(longest)).examples(example).build()
}

pub(crate) fn cursor() -> Object {
    cursor_of("^[0-9A-Za-z_-]{50}$")
}

/// A cursor in a query; an empty one counts as none.
pub(crate) fn after() -> Object {
    cursor_of("^([0-9A-Za-z_-]{50})?$")
}

fn cursor_of(pattern: &str) -> Object {
    text()
        .pattern(Some(pattern))
        .examples([json!("AWVjM2JhYjdkAAAAAQAAAAAAAAAAAAAAAAAAACrCjS0bqE6fIA")])
        .build()
}

pub(crate) fn event_limit() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .minimum(Some(1))
        .maximum(Some(FeedLimit::MOST))
        .default(Some(json!(FeedLimit::default().get())))
        .build()
}

/// The members of an event depend on its type; a later version may add some.
pub(crate) fn event_data() -> Object {
    let modes = word(&KeyMode::ALL.map(KeyMode::as_str));
    ObjectBuilder::new()
        .description(Some("Project, mode, and the members of the event type."))
        .property("project_id", id())
        .property("mode", modes)
        .required("project_id")
        .required("mode")
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .examples([json!({
            "project_id": EXAMPLE_ID,
            "mode": "live",
            "otp_id": EXAMPLE_ID,
            "channel": "whatsapp",
            "phone": "+9198••••3210",
        })])
        .build()
}

pub(crate) fn any_text() -> Object {
    text().build()
}

/// The schema of a header value in visible ASCII, such as an idempotency key.
pub(crate) fn visible(longest: usize) -> Object {
    text().pattern(Some(format!("^[!-~]{{1,{longest}}}$"))).build()
}

pub(crate) fn status() -> Object {
    let said = "Moves only forward, in the order of the listed values.";
    let words = DeliveryStatus::ALL.map(DeliveryStatus::as_str);
    word(&words).description(Some(said)).examples([json!("sent")]).build()
}

pub(crate) fn attempt_status() -> Object {
    word(&AttemptStatus::ALL.map(AttemptStatus::as_str)).build()
}

pub(crate) fn channel() -> Object {
    word(&Channel::ALL.map(Channel::as_str)).build()
}

pub(crate) fn carrier() -> Object {
    let words: Vec<_> = Channel::ALL.map(Channel::as_str).into_iter().chain(["sandbox"]).collect();
    let said = "Channel that carried the code; null before one did. `sandbox` for test keys.";
    word_or_null(&words).description(Some(said)).build()
}

pub(crate) fn reason() -> Object {
    let said = "Why it failed; null if it did not.";
    word_or_null(&Reason::ALL.map(Reason::as_str)).description(Some(said)).build()
}

pub(crate) fn bearer() -> Object {
    word(&["Bearer"]).build()
}

pub(crate) fn ok() -> Object {
    word(&["ok"]).build()
}

pub(crate) fn ready() -> Object {
    word(&["ready"]).build()
}

pub(crate) fn key_type() -> Object {
    word(&["EC", "OKP", "RSA"]).build()
}

pub(crate) fn signature_use() -> Object {
    word(&["sig"]).build()
}

pub(crate) fn yes() -> Object {
    ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([true])).build()
}
