use std::fmt;
use std::time::{Duration, SystemTime};

use base64ct::{Base64, Encoding};
use chrono::{DateTime, Utc};
use reqwest::header::HeaderMap;
use ring::hmac;
use serde::Deserialize;
use serde_json::Value;

use crate::clock::Clock;
use crate::event_types::EventData;
use crate::{Code, Error, Result};

const TOLERANCE: Duration = Duration::from_secs(300);

/// An event of a project. A later version of the service may add types and fields: ignore those
/// that you do not know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Event {
    /// The header `webhook-id`, the same for every delivery of the event.
    pub id: String,
    /// Such as `otp.sent`.
    pub kind: String,
    /// When it happened.
    pub timestamp: Option<DateTime<Utc>>,
    /// The same as `kind`, with what is told of it.
    pub data: EventData,
    /// The data as JSON, with fields that this version does not know.
    pub raw: Value,
}

#[derive(Deserialize)]
struct Body {
    #[serde(rename = "type", default)]
    kind: String,
    timestamp: Option<DateTime<Utc>>,
    #[serde(default)]
    data: Value,
}

/// Checks that events come from the service (Standard Webhooks) and are at most 5 minutes old.
#[derive(Clone)]
pub struct EventVerifier {
    keys: Vec<hmac::Key>,
    clock: Clock,
}

impl EventVerifier {
    /// The secrets are one `whsec_…`, or both during a rotation.
    ///
    /// # Errors [`Code::Argument`] for a text that is not a secret.
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let keys = secrets.into_iter().map(key).collect::<Option<Vec<_>>>();
        let keys =
            keys.ok_or_else(|| Error::argument("a secret of events must be whsec_ and base64"))?;
        Ok(Self { keys, clock: Clock::default() })
    }

    /// Replaces the clock of the system, for tests.
    pub fn with_clock(self, now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self { clock: Clock::new(now), ..self }
    }

    /// The event of a request with this raw body, before it is parsed.
    ///
    /// # Errors
    /// [`Code::WebhookUnauthenticated`] for any other request.
    pub fn verify(&self, headers: &HeaderMap, body: &[u8]) -> Result<Event> {
        let header = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let id = header("webhook-id").filter(|id| !id.is_empty());
        let timestamp = header("webhook-timestamp").filter(|timestamp| self.is_near(timestamp));
        let (Some(id), Some(timestamp)) = (id, timestamp) else {
            return Err(unauthenticated("it has no id, or its time is too far off"));
        };
        let signed = [format!("{id}.{timestamp}.").as_bytes(), body].concat();
        let signatures = header("webhook-signature").unwrap_or_default();
        if !signatures.split(' ').any(|signature| self.is_right(signature, &signed)) {
            return Err(unauthenticated("no signature is right"));
        }
        let Body { kind, timestamp, data: raw } = serde_json::from_slice(body)
            .map_err(|_| unauthenticated("it is not an event as JSON"))?;
        let data = serde_json::from_slice(body).unwrap_or_else(|_| EventData::Unknown(raw.clone()));
        Ok(Event { id: id.into(), kind, timestamp, data, raw })
    }

    fn is_near(&self, timestamp: &str) -> bool {
        let is_number = timestamp.bytes().all(|byte| byte.is_ascii_digit());
        let at = timestamp.parse().ok().filter(|_| is_number);
        at.is_some_and(|at| self.clock.now().timestamp().abs_diff(at) <= TOLERANCE.as_secs())
    }

    fn is_right(&self, signature: &str, signed: &[u8]) -> bool {
        let tag = signature.strip_prefix("v1,").and_then(|tag| Base64::decode_vec(tag).ok());
        tag.is_some_and(|tag| self.keys.iter().any(|key| hmac::verify(key, signed, &tag).is_ok()))
    }
}

impl fmt::Debug for EventVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EventVerifier")
    }
}

fn key(secret: &str) -> Option<hmac::Key> {
    let key = Base64::decode_vec(secret.strip_prefix("whsec_")?).ok()?;
    (!key.is_empty()).then(|| hmac::Key::new(hmac::HMAC_SHA256, &key))
}

fn unauthenticated(reason: &str) -> Error {
    let message = format!("the request is not from the service: {reason}");
    Error::new(Code::WebhookUnauthenticated, message)
}
