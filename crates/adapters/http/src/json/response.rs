#![expect(non_camel_case_types, reason = "type parameters of `object!` are named after members")]

use crate::LoopHealth;
use chrono::SecondsFormat;
use dwar_app::{FoundIdentity, SandboxMessage, SentOtp, TokenPair, ValidSession};
use dwar_identity::Erased;
use dwar_kernel::{IdentityId, KeyMode, Phone, Timestamp};
use dwar_otp::{Channel, DeliveryAttempt, Otp, Reason};
use serde::{Serialize, Serializer};
use std::fmt::Display;

/// A JSON object of these members, in this order, written without a tree in between.
macro_rules! object {
    ($($name:ident: $value:expr),+ $(,)?) => {{
        #[derive(Serialize)]
        struct Object<$($name),+> {
            $($name: $name),+
        }
        Object { $($name: $value),+ }
    }};
}

/// Writes an id straight into the answer.
struct Text<T>(T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// RFC 3339 in UTC with whole milliseconds.
fn instant(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::Millis, true)
}

/// The whole request of a test key went to the sandbox, whatever its attempts played.
fn channel(mode: KeyMode, channel: Option<Channel>) -> Option<&'static str> {
    if mode.is_test() { Some("sandbox") } else { channel.map(Channel::as_str) }
}

pub(crate) fn sent(sent: &SentOtp) -> impl Serialize {
    object! {
        otp_id: Text(sent.otp),
        status: sent.status.as_str(),
        channel: channel(sent.mode, sent.channel),
        expires_at: instant(sent.expires_at),
        expires_in: sent.expires_in,
    }
}

pub(crate) fn status(otp: &Otp) -> impl Serialize {
    object! {
        otp_id: Text(otp.id),
        status: otp.delivery.status.as_str(),
        channel: channel(otp.mode, otp.delivery.channel()),
        created_at: instant(otp.created_at),
        expires_at: instant(otp.expires_at),
        attempts: otp.delivery.attempts.iter().map(attempt).collect::<Vec<_>>(),
    }
}

fn attempt(attempt: &DeliveryAttempt) -> impl Serialize {
    object! {
        channel: attempt.channel.as_str(),
        provider: &attempt.provider,
        status: attempt.status.as_str(),
        reason: attempt.reason.map(Reason::as_str),
        at: instant(attempt.at),
    }
}

pub(crate) fn pair(pair: &TokenPair) -> impl Serialize {
    object! {
        access_token: pair.access.expose(),
        refresh_token: pair.refresh.expose(),
        token_type: "Bearer",
        expires_in: pair.expires_in,
        refresh_expires_in: pair.refresh_expires_in,
        session_id: Text(pair.session),
        identity_id: Text(pair.identity),
    }
}

pub(crate) fn valid(session: &ValidSession) -> impl Serialize {
    object! {
        valid: true,
        session_id: Text(session.session),
        identity_id: Text(session.identity),
        issued_at: instant(session.issued_at),
        expires_at: instant(session.expires_at),
        expires_in: session.expires_in,
    }
}

pub(crate) fn identity(found: &FoundIdentity) -> impl Serialize {
    object! {
        id: Text(found.id),
        phone: found.phone.e164(),
        created_at: instant(found.created_at),
        last_verified_at: instant(found.last_verified_at),
    }
}

pub(crate) fn deleted(id: IdentityId, erased: Erased) -> impl Serialize {
    object! { id: Text(id), deleted: true, sessions_revoked: erased.sessions_revoked }
}

pub(crate) fn messages(messages: &[SandboxMessage], phone: &Phone) -> impl Serialize {
    object! { messages: messages.iter().map(|it| message(it, phone)).collect::<Vec<_>>() }
}

fn message(message: &SandboxMessage, phone: &Phone) -> impl Serialize {
    object! {
        otp_id: Text(message.otp),
        phone: phone.e164(),
        channel: message.channel.as_str(),
        text: &message.text,
        code: message.code.expose(),
        at: instant(message.at),
    }
}

pub(crate) fn revoked() -> impl Serialize {
    object! { revoked: true }
}

pub(crate) fn alive() -> impl Serialize {
    object! { status: "ok" }
}

pub(crate) fn ready(loops: &[LoopHealth]) -> impl Serialize {
    #[derive(Serialize)]
    struct Ready<'a> {
        status: &'static str,
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        loops: &'a [LoopHealth],
    }
    Ready { status: "ready", loops }
}
