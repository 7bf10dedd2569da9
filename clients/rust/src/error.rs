use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::error::Elapsed;

use crate::Secret;

/// Result of a call of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// An error of another crate, such as that of a [`Store`](crate::Store).
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// Code of a failure. Codes do not change between versions; a code prints as its name in the API,
/// such as `INVALID_OTP`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[non_exhaustive]
#[allow(missing_docs, reason = "docs/errors.md says what the codes of the service mean")]
pub enum Code {
    MissingApiKey,
    InvalidApiKey,
    RateLimited,
    InvalidPhone,
    InvalidOtpCode,
    OtpRateLimited,
    InsufficientBalance,
    SpendLimitReached,
    ProofRequired,
    SmsFailed,
    OtpRequestNotFound,
    OtpNotFound,
    InvalidOtp,
    VerifyRateLimited,
    RelayDisabled,
    InvalidField,
    MissingAccessToken,
    MissingRefreshToken,
    InvalidAccessToken,
    SessionExpired,
    IdentityLookupDisabled,
    IdentityDeleteDisabled,
    IdentityNotFound,
    EventsFeedDisabled,
    CursorInvalidated,
    CursorExpired,
    InvalidRequest,
    NotFound,
    MethodNotAllowed,
    PayloadTooLarge,
    UnsupportedMediaType,
    IdempotencyConflict,
    IdempotencyKeyReused,
    InternalError,
    ServiceUnavailable,
    WebhookUnauthenticated,
    /// No whole answer came within the time limit.
    #[serde(skip_deserializing)]
    NetworkError,
    /// An answer that this version does not know; [`Error::raw`] has it.
    #[serde(skip_deserializing)]
    UnknownError,
    /// A wrong argument, such as an address with plain http; nothing was sent.
    #[serde(skip_deserializing)]
    Argument,
    /// The store of a session failed; the source of the error is its reason.
    #[serde(skip_deserializing)]
    StoreFailed,
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// Why a call failed. Its printed form contains no key, code or token.
///
/// There is no status if this crate raised it: [`Code::InvalidPhone`] (the text cannot be a number; nothing was sent),
/// [`Code::NetworkError`], [`Code::Argument`], [`Code::StoreFailed`], [`Code::InvalidAccessToken`] of a
/// [`Verifier`](crate::Verifier), [`Code::SessionExpired`] of a session whose store has no pair that can be read, and
/// [`Code::WebhookUnauthenticated`] of an event.
#[derive(Clone)]
pub struct Error(Arc<Reason>);

#[derive(Debug)]
struct Reason {
    code: Code,
    message: String,
    answer: Option<Answer>,
    source: Option<BoxError>,
}

#[derive(Debug, Default)]
struct Answer {
    status: u16,
    request_id: Option<String>,
    retry_after: Option<u32>,
    remaining: Option<u32>,
    raw: Option<Secret>,
}

impl Error {
    /// Why.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// A sentence for people.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The HTTP status of the answer.
    pub fn status(&self) -> Option<u16> {
        Some(self.0.answer.as_ref()?.status)
    }

    /// Id of the request in the service's log.
    pub fn request_id(&self) -> Option<&str> {
        self.0.answer.as_ref()?.request_id.as_deref()
    }

    /// How long to wait before the next try, from `Retry-After`, if the service sent it.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.answer.as_ref()?.retry_after.map(|seconds| Duration::from_secs(seconds.into()))
    }

    /// Remaining guesses or sends, from `RateLimit-Remaining`, if the service sent it.
    pub fn remaining(&self) -> Option<u32> {
        self.0.answer.as_ref()?.remaining
    }

    /// The body of the answer for [`Code::UnknownError`]. It may hold a token.
    pub fn raw(&self) -> Option<&Secret> {
        self.0.answer.as_ref()?.raw.as_ref()
    }

    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self::of(code, message.into(), None, None)
    }

    pub(crate) fn argument(message: &str) -> Self {
        Self::new(Code::Argument, message)
    }

    pub(crate) fn network(cause: reqwest::Error) -> Self {
        // The address may have a phone number in its query.
        let cause = Box::new(cause.without_url());
        Self::of(Code::NetworkError, "the request did not complete".into(), None, Some(cause))
    }

    pub(crate) fn time_limit(cause: Elapsed) -> Self {
        let message = "no answer within the time limit".into();
        Self::of(Code::NetworkError, message, None, Some(Box::new(cause)))
    }

    pub(crate) fn store(cause: BoxError) -> Self {
        Self::of(Code::StoreFailed, "the store of the session failed".into(), None, Some(cause))
    }

    /// Error for an answer with the status 200 that lacks a required field.
    pub(crate) fn incomplete(message: &str) -> Self {
        let answer = Answer { status: 200, ..Answer::default() };
        Self::of(Code::UnknownError, message.into(), Some(answer), None)
    }

    /// Error for an answer with any other status.
    pub(crate) fn refusal(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        #[derive(Deserialize)]
        struct Refused {
            code: Code,
            #[serde(default)]
            error: Value,
        }
        let refused = serde_json::from_slice::<Refused>(body).ok().filter(|_| status >= 400);
        let raw = String::from_utf8_lossy(body).into_owned();
        let answer = Answer {
            status,
            request_id: request_id(headers),
            retry_after: whole_number(headers, "retry-after"),
            remaining: whole_number(headers, "ratelimit-remaining"),
            raw: refused.is_none().then(|| raw.into()),
        };
        let Some(Refused { code, error }) = refused else {
            let message = unknown_answer(status, headers);
            return Self::of(Code::UnknownError, message, Some(answer), None);
        };
        let message = error.as_str().filter(|message| !message.is_empty());
        let message = message.unwrap_or("the service refused").to_owned();
        Self::of(code, message, Some(answer), None)
    }

    fn of(code: Code, message: String, answer: Option<Answer>, source: Option<BoxError>) -> Self {
        Self(Arc::new(Reason { code, message, answer, source }))
    }
}

pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    text(headers, "x-request-id").map(String::from)
}

fn unknown_answer(status: u16, headers: &HeaderMap) -> String {
    let media_type = text(headers, "content-type").and_then(|value| value.split(';').next());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.+-/".contains(&byte);
    let media_type = media_type
        .filter(|text| text.len() <= 120 && text.contains('/') && text.bytes().all(is_plain));
    let known = media_type.map(|text| format!(", {text}")).unwrap_or_default();
    format!("an answer that this version of the client does not know: status {status}{known}")
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn whole_number(headers: &HeaderMap, name: &str) -> Option<u32> {
    text(headers, name)?.parse().ok()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)?;
        match &self.0.answer {
            Some(Answer { status, request_id: Some(id), .. }) => {
                write!(f, " (status {status}, request {id})")
            }
            Some(Answer { status, .. }) => write!(f, " (status {status})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
