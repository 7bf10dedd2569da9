use crate::Secret;
use dwar_otp::Reason;
use serde::{Deserialize, Deserializer, de};
use std::collections::BTreeMap;
use std::fmt;

/// A provider described only by configuration; `examples_config/` has some.
///
/// Values are templates. `{name}` stands for one of `phone_e164` (`+91…`), `phone_digits` (`91…`),
/// `phone_national` (ten digits), `code`, `text`, `brand`, `minutes`, `language`, `otp_id`,
/// `attempt_id`, `template_id` (the project's own or the configured one) and `secret.NAME`; `{{`
/// and `}}` are braces. Each value is encoded for its place.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericHttpSettings {
    /// The provider's name, also the last part of its webhook's address: lower-case letters,
    /// digits, `-` and `_`, at most 32.
    pub name: String,
    /// Secrets by name, each used as `{secret.NAME}`.
    #[serde(default)]
    pub secrets: BTreeMap<String, Secret>,
    /// The value of `{template_id}` for projects without a template of their own.
    pub template_id: Option<String>,
    /// Whether calls may be sent unencrypted to another machine. Calls to loopback always may.
    #[serde(default)]
    pub allow_plain_http: bool,
    pub request: GenericRequest,
    #[serde(default)]
    pub answer: GenericAnswer,
    /// How its webhook is read; `None` if it has none, so that no receipt is expected.
    pub receipts: Option<GenericReceipts>,
}

/// The request that hands a message to the provider.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericRequest {
    /// `POST` by default.
    #[serde(default)]
    pub method: GenericMethod,
    /// Scheme, host and path, with templates only in the path. The query has its own key.
    pub url: String,
    /// Names and templates of headers. `Content-Type` is set with the body.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// User and password of basic authentication; templates may contain only secrets.
    pub basic_auth: Option<(String, String)>,
    #[serde(default)]
    pub query: Vec<(String, String)>,
    /// Names and templates of form fields; not together with `json`.
    #[serde(default)]
    pub form: Vec<(String, String)>,
    /// A JSON text whose strings are templates; not together with `form`.
    pub json: Option<String>,
}

/// The method of the call that hands over a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum GenericMethod {
    Get,
    #[default]
    Post,
}

/// How an answer is read. An answer that is not JSON counts as a JSON string with its whole text.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericAnswer {
    /// HTTP statuses of success; any 2xx if empty.
    #[serde(default)]
    pub statuses: Vec<u16>,
    /// A further condition of success; `None` if the status is enough.
    pub success: Option<GenericMatch>,
    /// JSON pointer (RFC 6901) to the provider's id of the message.
    pub reference: Option<String>,
    /// Why a message was refused: the first rule that matches; without one the HTTP status decides.
    #[serde(default)]
    pub reasons: Vec<GenericRule>,
}

/// A place in a JSON document and its accepted values, compared without regard to ASCII case. A
/// number or boolean counts as its text.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericMatch {
    /// JSON pointer (RFC 6901); the empty one is the whole document.
    pub pointer: String,
    pub values: Vec<String>,
}

/// Conditions of a failure and their meaning. At least one condition; all given ones must match.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericRule {
    /// This HTTP status; not for receipts.
    pub status: Option<u16>,
    /// A place in the document; for receipts the default is the status.
    pub pointer: Option<String>,
    #[serde(default)]
    pub values: Vec<String>,
    /// The reason, in the word of the API: `rejected_number`, `provider_auth`, ….
    #[serde(deserialize_with = "reason")]
    pub reason: Reason,
}

/// How the provider's webhook calls are authenticated and their reports read.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericReceipts {
    /// Name of the secret that authenticates calls; at least 16 characters.
    pub secret: String,
    /// Where every call contains the secret: `{ query = "token" }` or `{ header = "x-token" }`; not
    /// together with `signature`.
    pub secret_in: Option<GenericSecretPlace>,
    /// How every call is signed, instead of containing the secret.
    pub signature: Option<GenericSignature>,
    pub payload: GenericPayload,
    /// The longest body that the provider sends, in bytes; 64 KiB by default, 3 MiB at most. A
    /// longer one is refused unread.
    #[serde(default = "longest_body")]
    pub longest_body: usize,
    /// The form field with the JSON payload, for providers that send one in a form.
    pub field: Option<String>,
    /// JSON pointer to an array of reports; `None` if the payload is one report.
    pub items: Option<String>,
    /// JSON pointer, inside a report, to the provider's id of the message. A form or query is read
    /// as a JSON object: its field `Sid` is at `/Sid`.
    pub reference: String,
    /// JSON pointer, inside a report, to its status.
    pub status: String,
    pub delivered: Vec<String>,
    /// Conditions of a failed message; the first that matches decides. Other statuses mean that it
    /// is on the way.
    #[serde(default)]
    pub failed: Vec<GenericRule>,
}

/// Where a webhook call contains its secret: a query parameter or a header.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GenericSecretPlace {
    Query(String),
    Header(String),
}

/// The HMAC (RFC 2104) with which a provider signs its calls.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GenericSignature {
    pub header: String,
    /// Text before the signature, such as `sha256=`.
    #[serde(default)]
    pub prefix: String,
    pub algorithm: GenericAlgorithm,
    pub encoding: GenericEncoding,
    /// The signed parts, joined without separators; the raw body by default. They must include the
    /// report.
    #[serde(default = "the_body")]
    pub signed: Vec<GenericSigned>,
}

/// The hash function of an HMAC with which a provider signs.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GenericAlgorithm {
    /// For providers that offer nothing newer; HMAC with SHA-1 is not broken.
    Sha1,
    Sha256,
    Sha512,
}

/// The encoding of a signature in its header, after the prefix.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GenericEncoding {
    Hex,
    /// Standard Base64 with its padding (RFC 4648 section 4).
    Base64,
}

/// A part of the text over which a provider computes its signature.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GenericSigned {
    Body,
    /// Path and query as received: `/webhooks/NAME?…`.
    PathAndQuery,
    /// The value of this header, such as a timestamp.
    Header(String),
    /// This text, such as a full stop between two other parts.
    Text(String),
}

/// The part of a webhook call that contains the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GenericPayload {
    Json,
    Form,
    Query,
}

impl fmt::Debug for GenericHttpSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Templates may contain text that should have been a secret.
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
        .ok_or_else(|| de::Error::custom(format!("{word:?} is not a reason, such as \"blocked\"")))
}
