//! The answers of the API under its names. Texts of an enumeration may have other values in a later version of the
//! service; lifetimes are in seconds.

use chrono::{DateTime, Utc};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use crate::Secret;

/// The result of a call.
pub(crate) trait Answer: DeserializeOwned {
    fn set_request_id(&mut self, id: Option<String>);
}

/// Adds to each struct what every answer has.
macro_rules! answers {
    ($($(#[$doc:meta])* pub struct $name:ident { $($fields:tt)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, Deserialize)]
        #[non_exhaustive]
        pub struct $name {
            $($fields)*
            /// Id of the request in the service's log.
            #[serde(skip)]
            pub request_id: Option<String>,
        }

        impl Answer for $name {
            fn set_request_id(&mut self, id: Option<String>) {
                self.request_id = id;
            }
        }
    )* };
}

answers! {
/// The result of a send or a relay.
pub struct SentCode {
    /// The send, for [`Client::verify`](crate::Client::verify) and [`Client::status`](crate::Client::status).
    pub otp_id: String,
    /// `queued`, `sent`, `failed` or `delivered`.
    pub status: String,
    /// `whatsapp`, `sms` or `sandbox`; nothing if none is known yet.
    pub channel: Option<String>,
    /// When the code expires.
    pub expires_at: DateTime<Utc>,
    /// The same, in seconds from now.
    pub expires_in: u64,
}

/// The status of a send so far.
pub struct CodeStatus {
    /// The send.
    pub otp_id: String,
    /// `queued`, `sent`, `failed` or `delivered`.
    pub status: String,
    /// `whatsapp`, `sms` or `sandbox`; nothing if none is known yet.
    pub channel: Option<String>,
    /// When it was asked for.
    pub created_at: DateTime<Utc>,
    /// When the code expires.
    pub expires_at: DateTime<Utc>,
    /// In order.
    pub attempts: Vec<DeliveryTry>,
}

/// The result of a check with the right code.
pub struct CheckedCode {
    /// Always true.
    #[serde(deserialize_with = "only_true")]
    pub verified: bool,
}

/// The token pair of a session, with its ids.
pub struct Tokens {
    /// A JWT.
    pub access_token: Secret,
    /// Valid for one refresh.
    pub refresh_token: Secret,
    /// `Bearer`.
    pub token_type: String,
    /// The lifetime of the access token in seconds.
    pub expires_in: u64,
    /// The lifetime of the refresh token in seconds.
    pub refresh_expires_in: u64,
    /// The same for every pair of this login.
    pub session_id: String,
    /// The person: the same for every login with this phone in this project and mode.
    pub identity_id: String,
    /// Of a verify, if the guard of the project is on: keep it where this browser or app logged in, for its next send.
    pub device: Option<Secret>,
}

/// The session of an access token that is valid now.
pub struct LiveSession {
    /// Always true.
    #[serde(deserialize_with = "only_true")]
    pub valid: bool,
    /// The same for every pair of this login.
    pub session_id: String,
    /// The person.
    pub identity_id: String,
    /// When the access token was issued.
    pub issued_at: DateTime<Utc>,
    /// When it expires.
    pub expires_at: DateTime<Utc>,
    /// The same, in seconds from now.
    pub expires_in: u64,
}

/// The session is over.
pub struct EndedSession {
    /// Always true.
    #[serde(deserialize_with = "only_true")]
    pub revoked: bool,
}

/// A person, per project and mode.
pub struct Identity {
    /// The `identity_id` of a login.
    pub id: String,
    /// Begins with `+91`.
    pub phone: String,
    /// Time of the first login.
    pub created_at: DateTime<Utc>,
    /// Time of the last login.
    pub last_verified_at: DateTime<Utc>,
}

/// The person was erased.
pub struct DeletedIdentity {
    /// The `identity_id` of the person.
    pub id: String,
    /// Always true.
    #[serde(deserialize_with = "only_true")]
    pub deleted: bool,
    /// How many sessions were still active.
    pub sessions_revoked: u64,
}

/// The messages that the sandbox kept instead of sending them.
pub struct SandboxMessages {
    /// Newest first.
    pub messages: Vec<SandboxText>,
}

/// The keys that access tokens are signed with.
pub struct PublicKeys {
    /// Entries that are not keys are left out.
    #[serde(deserialize_with = "readable")]
    pub keys: Vec<PublicKey>,
}
}

/// One attempt at delivering a code.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct DeliveryTry {
    /// `whatsapp` or `sms`.
    pub channel: String,
    /// As the service names it.
    pub provider: String,
    /// `queued`, `sent`, `failed` or `delivered`.
    pub status: String,
    /// Why it failed: docs/api.md lists the reasons.
    pub reason: Option<String>,
    /// When the status was set.
    pub at: DateTime<Utc>,
}

/// A message that the sandbox kept.
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct SandboxText {
    /// The send.
    pub otp_id: String,
    /// Begins with `+91`.
    pub phone: String,
    /// `whatsapp` or `sms`.
    pub channel: String,
    /// The message with its code.
    pub text: Secret,
    /// Its code.
    pub code: Secret,
    /// When it would have been sent.
    pub at: DateTime<Utc>,
}

/// A JSON Web Key (RFC 7517).
#[derive(Clone, Debug, Deserialize)]
#[non_exhaustive]
pub struct PublicKey {
    /// `EC`, `OKP` or `RSA`.
    pub kty: String,
    /// `sig`.
    #[serde(rename = "use")]
    pub purpose: String,
    /// `ES256`, `EdDSA` or `RS256`.
    pub alg: String,
    /// Key id, as in the header of a token.
    pub kid: String,
    /// `P-256` or `Ed25519`.
    pub crv: Option<String>,
    /// The point, base64url.
    pub x: Option<String>,
    /// The point of `EC`, base64url.
    pub y: Option<String>,
    /// The modulus of `RSA`, base64url.
    pub n: Option<String>,
    /// The exponent of `RSA`, base64url.
    pub e: Option<String>,
}

/// An answer with `false` here is one that this version does not know.
fn only_true<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    match bool::deserialize(deserializer)? {
        true => Ok(true),
        false => Err(D::Error::custom("false")),
    }
}

fn readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PublicKey>, D::Error> {
    let entries = Vec::<serde_json::Value>::deserialize(deserializer)?;
    Ok(entries.into_iter().filter_map(|entry| serde_json::from_value(entry).ok()).collect())
}
