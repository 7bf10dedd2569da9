use crate::Secret;
use dwar_otp::Reason;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::fmt;

/// A provider described by configuration alone; `examples_config/` has some.
///
/// Values are templates. `{name}` stands for one of `phone_e164` (`+91…`), `phone_digits` (`91…`),
/// `phone_national` (ten digits), `code`, `text`, `brand`, `minutes`, `language`, `otp_id`,
/// `attempt_id`, `template_id` (the project's own or the configured one) and `secret.NAME`; `{{`
/// and `}}` are braces. The value of a name is encoded for the place it is put in.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericHttpSettings {
    /// The provider's name, also the last part of its webhook's address: lower-case letters,
    /// digits, `-` and `_`, at most 32.
    pub name: String,
    /// Secrets by name, each used as `{secret.NAME}`.
    #[serde(default)]
    pub secrets: BTreeMap<String, Secret>,
    /// What `{template_id}` is for projects without a template of their own.
    pub template_id: Option<String>,
    /// Whether calls may go unencrypted to another machine. Loopback always may.
    #[serde(default)]
    pub allow_plain_http: bool,
    pub request: GenericRequest,
    #[serde(default)]
    pub answer: GenericAnswer,
    /// How its webhook is read; `None`: there is none, and no receipt is waited for.
    pub receipts: Option<GenericReceipts>,
}

/// How a message is handed over.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericRequest {
    /// `POST` unless told otherwise.
    #[serde(default)]
    pub method: GenericMethod,
    /// Scheme, host and path; templates in the path only. The query has its own key.
    pub url: String,
    /// Names and templates of headers; `Content-Type` comes with the body.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// User and password of basic authentication; they may name secrets only.
    pub basic_auth: Option<(String, String)>,
    #[serde(default)]
    pub query: Vec<(String, String)>,
    /// Names and templates of form fields; not together with `json`.
    #[serde(default)]
    pub form: Vec<(String, String)>,
    /// A JSON text whose strings are templates; not together with `form`.
    pub json: Option<String>,
}

/// The method of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum GenericMethod {
    Get,
    #[default]
    Post,
}

/// How an answer is read. One that is not JSON counts as a JSON string of its whole text.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericAnswer {
    /// HTTP statuses of success; any 2xx if empty.
    #[serde(default)]
    pub statuses: Vec<u16>,
    /// What a success says besides; `None`: the status is enough.
    pub success: Option<GenericMatch>,
    /// JSON pointer (RFC 6901) to what the provider calls the message.
    pub reference: Option<String>,
    /// Why a message was refused: the first that fits; after them the HTTP status decides.
    #[serde(default)]
    pub reasons: Vec<GenericRule>,
}

/// A place in a JSON document and the values it may have, compared without regard to ASCII case. A
/// number or boolean counts as its text.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericMatch {
    /// JSON pointer (RFC 6901); the empty one is the whole document.
    pub pointer: String,
    pub values: Vec<String>,
}

/// A sign of a failure and what it means. At least one sign; all that are given must fit.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericRule {
    /// This HTTP status; not for receipts.
    pub status: Option<u16>,
    /// A place in the document; for receipts the status is meant if it is left out.
    pub pointer: Option<String>,
    #[serde(default)]
    pub values: Vec<String>,
    /// What it means, by its word in the API: `rejected_number`, `provider_auth`, ….
    #[serde(deserialize_with = "reason")]
    pub reason: Reason,
}

/// How a webhook is read.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericReceipts {
    /// Name of the secret that proves who calls; at least 16 characters.
    pub secret: String,
    /// Where every call carries it: `{ query = "token" }` or `{ header = "x-token" }`; not together
    /// with `signature`.
    pub secret_in: Option<GenericSecretPlace>,
    /// How every call is signed with it instead.
    pub signature: Option<GenericSignature>,
    pub payload: GenericPayload,
    /// The longest body that the provider ever sends, in bytes; 64 KiB unless told otherwise, 3 MiB
    /// at most. A longer one is refused unread.
    #[serde(default = "longest_body")]
    pub longest_body: usize,
    /// The form field whose JSON is the payload, for forms that carry one.
    pub field: Option<String>,
    /// JSON pointer to an array of reports; `None`: the payload is one report.
    pub items: Option<String>,
    /// JSON pointer, inside a report, to what the provider calls the message. A form or query is
    /// read as a JSON object: its field `Sid` is at `/Sid`.
    pub reference: String,
    /// JSON pointer, inside a report, to its status.
    pub status: String,
    pub delivered: Vec<String>,
    /// Signs of a message that did not, the first that fits; anything else is on the way.
    #[serde(default)]
    pub failed: Vec<GenericRule>,
}

/// Where a webhook carries its secret.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GenericSecretPlace {
    Query(String),
    Header(String),
}

/// An HMAC (RFC 2104) that a provider puts on its calls.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericSignature {
    pub header: String,
    /// What precedes it there, such as `sha256=`.
    #[serde(default)]
    pub prefix: String,
    pub algorithm: GenericAlgorithm,
    pub encoding: GenericEncoding,
    /// What is signed, one part right behind the other; the raw body unless told otherwise. It must
    /// include the report.
    #[serde(default = "the_body")]
    pub signed: Vec<GenericSigned>,
}

/// The hash of an HMAC.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GenericAlgorithm {
    /// For providers that offer nothing newer; an HMAC with it is not broken.
    Sha1,
    Sha256,
    Sha512,
}

/// How a signature is written.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GenericEncoding {
    Hex,
    /// Standard Base64 with its padding (RFC 4648 section 4).
    Base64,
}

/// A part of what is signed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GenericSigned {
    Body,
    /// Path and query as they came: `/webhooks/NAME?…`.
    PathAndQuery,
    /// The value of this header, such as that of a timestamp.
    Header(String),
    /// This text, such as a full stop between two others.
    Text(String),
}

/// What of a webhook call carries the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GenericPayload {
    Json,
    Form,
    Query,
}

impl fmt::Debug for GenericHttpSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Templates may hold what should have been a secret.
        write!(out, "GenericHttpSettings({})", self.name)
    }
}

fn the_body() -> Vec<GenericSigned> {
    vec![GenericSigned::Body]
}

const fn longest_body() -> usize {
    64 * 1_024
}

fn reason<'de, D: Deserializer<'de>>(from: D) -> Result<Reason, D::Error> {
    let word = String::deserialize(from)?;
    Reason::from_word(&word)
        .ok_or_else(|| de::Error::custom(format!("{word:?} is no reason, such as \"blocked\"")))
}
