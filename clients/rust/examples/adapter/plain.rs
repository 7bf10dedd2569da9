//! What the suite is told: results under the names of the API, with their secrets, and what is printed of them.

use std::fmt::Debug;

use chrono::{DateTime, SecondsFormat, Utc};
use dwar_client::answers::{
    CheckedCode, CodeStatus, DeletedIdentity, DeliveryTry, EndedSession, Identity, LiveSession,
    PublicKey, PublicKeys, SandboxMessages, SandboxText, SentCode,
};
use dwar_client::{
    AlertEvent, Claims, EndpointEvent, Error, Event, EventData, GuardEvent, IdentityEvent, Mode,
    OtpEvent, ProviderEvent, Secret, SessionEvent, SpendEvent, Tokens, WalletEvent,
    WebhookTestEvent,
};
use serde_json::{Map, Value, json};

pub struct Shown {
    plain: Value,
    request_id: Option<String>,
    printed: String,
}

impl Shown {
    pub fn of(object: &impl Debug) -> Self {
        Self { plain: Value::Null, request_id: None, printed: format!("{object:?} {object:#?}") }
    }
}

pub fn shown<T: Plain + Debug>(result: Result<T, Error>) -> Result<Shown, Error> {
    result.map(|found| Shown {
        plain: found.plain(),
        request_id: found.request_id(),
        ..Shown::of(&found)
    })
}

pub fn outcome(found: Result<Shown, impl std::borrow::Borrow<Error>>, object: &str) -> Value {
    match found {
        Ok(Shown { plain, request_id, printed }) => {
            json!({ "result": plain, "request_id": request_id, "printed": printed + object })
        }
        Err(error) => {
            let error = error.borrow();
            json!({ "error": error.plain(), "printed": format!("{error} {error:?} {error:#?} {object}") })
        }
    }
}

pub trait Plain {
    fn plain(&self) -> Value;

    fn request_id(&self) -> Option<String> {
        None
    }
}

/// An object with these fields, perhaps one whose name is a word of the language, and what it has besides.
macro_rules! plain {
    ($($kind:ident $(+ $about:ident)? { $($field:ident),* $(; $name:literal: $renamed:ident)? })*) => { $(
        impl Plain for $kind {
            fn plain(&self) -> Value {
                let mut object = Map::new();
                $(object.insert(stringify!($field).into(), self.$field.plain());)*
                $(object.insert($name.into(), self.$renamed.plain());)?
                object.into()
            }

            $(fn request_id(&self) -> Option<String> {
                self.$about.clone()
            })?
        }
    )* };
}

plain! {
    SentCode + request_id { otp_id, status, channel, expires_at, expires_in }
    CodeStatus + request_id { otp_id, status, channel, created_at, expires_at, attempts }
    DeliveryTry { channel, provider, status, reason, at }
    CheckedCode + request_id { verified }
    Tokens + request_id {
        access_token, refresh_token, token_type, expires_in, refresh_expires_in, session_id, identity_id,
        device
    }
    LiveSession + request_id { valid, session_id, identity_id, issued_at, expires_at, expires_in }
    EndedSession + request_id { revoked }
    Identity + request_id { id, phone, created_at, last_verified_at }
    DeletedIdentity + request_id { id, deleted, sessions_revoked }
    SandboxMessages + request_id { messages }
    SandboxText { otp_id, phone, channel, text, code, at }
    PublicKeys + request_id { keys }
    PublicKey { kty, alg, kid, crv, x, y, n, e; "use": purpose }
    Event { id, timestamp, data; "type": kind }
    OtpEvent { project_id, mode, otp_id, channel, phone }
    SessionEvent { project_id, mode, session_id, identity_id }
    IdentityEvent { project_id, mode, identity_id, sessions_revoked }
    WalletEvent { project_id, mode, balance_paise, threshold_paise }
    SpendEvent { project_id, mode, percent, spent_paise, limit_paise }
    GuardEvent { project_id, mode, subject, guard }
    EndpointEvent { project_id, mode, webhook_id, failures, failing_since }
    ProviderEvent { project_id, mode, provider, failed, receipts }
    AlertEvent { project_id, mode, alert, severity, webhook_id, since }
    WebhookTestEvent { project_id, mode, webhook_id }
}

impl Plain for EventData {
    fn plain(&self) -> Value {
        match self {
            Self::OtpSent(data)
            | Self::OtpDelivered(data)
            | Self::OtpFailed(data)
            | Self::OtpVerified(data)
            | Self::OtpUnderAttack(data)
            | Self::RelaySent(data)
            | Self::RelayDelivered(data)
            | Self::RelayFailed(data) => data.plain(),
            Self::SessionRevoked(data) => data.plain(),
            Self::IdentityDeleted(data) => data.plain(),
            Self::WalletLow(data) => data.plain(),
            Self::SpendReached(data) => data.plain(),
            Self::GuardEmptied(data) => data.plain(),
            Self::EndpointDisabled(data) => data.plain(),
            Self::ProviderFailing(data) => data.plain(),
            Self::AlertOpened(data) | Self::AlertResolved(data) => data.plain(),
            Self::WebhookTest(data) => data.plain(),
            Self::Unknown(data) => data.clone(),
            _ => panic!("no such event"),
        }
    }
}

impl Plain for Mode {
    fn plain(&self) -> Value {
        json!(self)
    }
}

impl Plain for i64 {
    fn plain(&self) -> Value {
        (*self).into()
    }
}

impl Plain for Claims {
    fn plain(&self) -> Value {
        json!({
            "iss": self.issuer, "aud": self.audience, "client_id": self.audience, "sub": self.subject,
            "sid": self.session_id, "jti": self.token_id, "mode": self.mode,
            "iat": self.issued_at.timestamp(), "exp": self.expires_at.timestamp(),
        })
    }
}

impl Plain for Error {
    fn plain(&self) -> Value {
        let mut object = Map::new();
        let fields = [
            ("code", Some(json!(self.code()))),
            ("message", Some(json!(self.to_string()))),
            ("status", self.status().map(Value::from)),
            ("request_id", self.request_id().map(Value::from)),
            ("retry_after", self.retry_after().map(|wait| wait.as_secs().into())),
            ("remaining", self.remaining().map(Value::from)),
            ("raw", self.raw().map(Plain::plain)),
            ("cause", std::error::Error::source(self).map(|cause| cause.to_string().into())),
        ];
        object.extend(fields.into_iter().filter_map(|(name, value)| Some((name.into(), value?))));
        object.into()
    }
}

impl Plain for Secret {
    fn plain(&self) -> Value {
        self.reveal().into()
    }
}

impl Plain for DateTime<Utc> {
    fn plain(&self) -> Value {
        self.to_rfc3339_opts(SecondsFormat::Millis, true).into()
    }
}

impl Plain for String {
    fn plain(&self) -> Value {
        self.as_str().into()
    }
}

impl Plain for bool {
    fn plain(&self) -> Value {
        (*self).into()
    }
}

impl Plain for u64 {
    fn plain(&self) -> Value {
        (*self).into()
    }
}

impl Plain for () {
    fn plain(&self) -> Value {
        Value::Null
    }
}

impl Plain for Value {
    fn plain(&self) -> Value {
        self.clone()
    }
}

impl<T: Plain> Plain for Option<T> {
    fn plain(&self) -> Value {
        self.as_ref().map_or(Value::Null, Plain::plain)
    }
}

impl<T: Plain> Plain for Vec<T> {
    fn plain(&self) -> Value {
        self.iter().map(Plain::plain).collect()
    }
}
