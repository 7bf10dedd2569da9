use crate::LoopHealth;
use chrono::SecondsFormat;
use dwar_app::{FoundIdentity, SandboxMessage, SentOtp, TokenPair, ValidSession};
use dwar_identity::Erased;
use dwar_kernel::{IdentityId, KeyMode, OtpId, Phone, SessionId, Timestamp};
use dwar_otp::{Channel, DeliveryAttempt, Otp, Reason};
use serde::{Serialize, Serializer};
use std::fmt::Display;

/// Writes an id straight into the answer.
fn text<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// RFC 3339 in UTC with whole milliseconds.
fn instant<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&at.to_rfc3339_opts(SecondsFormat::Millis, true))
}

fn e164<S: Serializer>(phone: &&Phone, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&phone.e164())
}

#[derive(Serialize)]
pub(crate) struct Health {
    pub(crate) status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) loops: Vec<LoopHealth>,
}

#[derive(Serialize)]
pub(crate) struct SentBody {
    #[serde(serialize_with = "text")]
    otp_id: OtpId,
    status: &'static str,
    channel: Option<&'static str>,
    #[serde(serialize_with = "instant")]
    expires_at: Timestamp,
    expires_in: i64,
}

impl SentBody {
    pub(crate) fn of(sent: &SentOtp) -> Self {
        Self {
            otp_id: sent.otp,
            status: sent.status.as_str(),
            channel: channel(sent.mode, sent.channel),
            expires_at: sent.expires_at,
            expires_in: sent.expires_in,
        }
    }
}

/// The whole request of a test key went to the sandbox, whatever its attempts played.
fn channel(mode: KeyMode, channel: Option<Channel>) -> Option<&'static str> {
    if mode.is_test() { Some("sandbox") } else { channel.map(Channel::as_str) }
}

#[derive(Serialize)]
pub(crate) struct StatusBody<'a> {
    #[serde(serialize_with = "text")]
    otp_id: OtpId,
    status: &'static str,
    channel: Option<&'static str>,
    #[serde(serialize_with = "instant")]
    created_at: Timestamp,
    #[serde(serialize_with = "instant")]
    expires_at: Timestamp,
    attempts: Vec<AttemptBody<'a>>,
}

#[derive(Serialize)]
struct AttemptBody<'a> {
    channel: &'static str,
    provider: &'a str,
    status: &'static str,
    reason: Option<&'static str>,
    #[serde(serialize_with = "instant")]
    at: Timestamp,
}

impl<'a> StatusBody<'a> {
    pub(crate) fn of(otp: &'a Otp) -> Self {
        Self {
            otp_id: otp.id,
            status: otp.delivery.status.as_str(),
            channel: channel(otp.mode, otp.delivery.channel()),
            created_at: otp.created_at,
            expires_at: otp.expires_at,
            attempts: otp.delivery.attempts.iter().map(AttemptBody::of).collect(),
        }
    }
}

impl<'a> AttemptBody<'a> {
    fn of(attempt: &'a DeliveryAttempt) -> Self {
        Self {
            channel: attempt.channel.as_str(),
            provider: &attempt.provider,
            status: attempt.status.as_str(),
            reason: attempt.reason.map(Reason::as_str),
            at: attempt.at,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Pair<'a> {
    access_token: &'a str,
    refresh_token: &'a str,
    token_type: &'static str,
    expires_in: i64,
    refresh_expires_in: i64,
    #[serde(serialize_with = "text")]
    session_id: SessionId,
    #[serde(serialize_with = "text")]
    identity_id: IdentityId,
}

impl<'a> Pair<'a> {
    pub(crate) fn of(pair: &'a TokenPair) -> Self {
        Self {
            access_token: pair.access.expose(),
            refresh_token: pair.refresh.expose(),
            token_type: "Bearer",
            expires_in: pair.expires_in,
            refresh_expires_in: pair.refresh_expires_in,
            session_id: pair.session,
            identity_id: pair.identity,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Valid {
    valid: bool,
    #[serde(serialize_with = "text")]
    session_id: SessionId,
    #[serde(serialize_with = "text")]
    identity_id: IdentityId,
    #[serde(serialize_with = "instant")]
    issued_at: Timestamp,
    #[serde(serialize_with = "instant")]
    expires_at: Timestamp,
    expires_in: i64,
}

impl Valid {
    pub(crate) const fn of(session: &ValidSession) -> Self {
        Self {
            valid: true,
            session_id: session.session,
            identity_id: session.identity,
            issued_at: session.issued_at,
            expires_at: session.expires_at,
            expires_in: session.expires_in,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct Revoked {
    pub(crate) revoked: bool,
}

#[derive(Serialize)]
pub(crate) struct IdentityBody<'a> {
    #[serde(serialize_with = "text")]
    id: IdentityId,
    #[serde(serialize_with = "e164")]
    phone: &'a Phone,
    #[serde(serialize_with = "instant")]
    created_at: Timestamp,
    #[serde(serialize_with = "instant")]
    last_verified_at: Timestamp,
}

impl<'a> IdentityBody<'a> {
    pub(crate) const fn of(found: &'a FoundIdentity) -> Self {
        Self {
            id: found.id,
            phone: &found.phone,
            created_at: found.created_at,
            last_verified_at: found.last_verified_at,
        }
    }
}

#[derive(Serialize)]
pub(crate) struct DeletedIdentity {
    #[serde(serialize_with = "text")]
    id: IdentityId,
    deleted: bool,
    sessions_revoked: u64,
}

impl DeletedIdentity {
    pub(crate) const fn of(id: IdentityId, erased: Erased) -> Self {
        Self { id, deleted: true, sessions_revoked: erased.sessions_revoked }
    }
}

#[derive(Serialize)]
pub(crate) struct MessagesBody<'a> {
    messages: Vec<MessageBody<'a>>,
}

#[derive(Serialize)]
struct MessageBody<'a> {
    #[serde(serialize_with = "text")]
    otp_id: OtpId,
    #[serde(serialize_with = "e164")]
    phone: &'a Phone,
    channel: &'static str,
    text: &'a str,
    code: &'a str,
    #[serde(serialize_with = "instant")]
    at: Timestamp,
}

impl<'a> MessagesBody<'a> {
    pub(crate) fn of(messages: &'a [SandboxMessage], phone: &'a Phone) -> Self {
        let body = |message: &'a SandboxMessage| MessageBody {
            otp_id: message.otp,
            phone,
            channel: message.channel.as_str(),
            text: &message.text,
            code: message.code.expose(),
            at: message.at,
        };
        Self { messages: messages.iter().map(body).collect() }
    }
}
