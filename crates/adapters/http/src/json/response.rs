use crate::LoopHealth;
use crate::json::schema;
use chrono::SecondsFormat;
use dwar_app::{
    FoundIdentity, IntrospectedToken, SandboxMessage, SentOtp, TokenPair, ValidSession, VerifiedOtp,
};
use dwar_identity::{DeviceToken, Erased};
use dwar_kernel::{IdentityId, KeyMode, OtpId, Phone, ProjectId, SessionId, Timestamp};
use dwar_otp::{Channel, DeliveryAttempt, Otp, Reason};
use serde::{Serialize, Serializer};
use std::fmt::Display;
use utoipa::ToSchema;

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

/// The channel as shown: `sandbox` for a test key, whatever its attempts simulated.
fn channel(mode: KeyMode, channel: Option<Channel>) -> Option<&'static str> {
    if mode.is_test() { Some("sandbox") } else { channel.map(Channel::as_str) }
}

/// A code that is being sent.
#[derive(Serialize, ToSchema)]
pub(crate) struct SentCode {
    /// Id of the request, to get its status and to verify its code.
    #[schema(schema_with = schema::id)]
    otp_id: Text<OtpId>,
    #[schema(schema_with = schema::status)]
    status: &'static str,
    #[schema(schema_with = schema::carrier, required = true)]
    channel: Option<&'static str>,
    #[schema(schema_with = schema::instant)]
    expires_at: String,
    /// Seconds until the code expires.
    #[schema(minimum = 0, maximum = 3_600, example = 600)]
    expires_in: i64,
}

impl From<&SentOtp> for SentCode {
    fn from(sent: &SentOtp) -> Self {
        Self {
            otp_id: Text(sent.otp),
            status: sent.status.as_str(),
            channel: channel(sent.mode, sent.channel),
            expires_at: instant(sent.expires_at),
            expires_in: sent.expires_in,
        }
    }
}

/// Status of a send so far.
#[derive(Serialize, ToSchema)]
pub(crate) struct CodeStatus<'a> {
    #[schema(schema_with = schema::id)]
    otp_id: Text<OtpId>,
    #[schema(schema_with = schema::status)]
    status: &'static str,
    #[schema(schema_with = schema::carrier, required = true)]
    channel: Option<&'static str>,
    #[schema(schema_with = schema::instant)]
    created_at: String,
    #[schema(schema_with = schema::instant)]
    expires_at: String,
    /// Attempts in the order in which they were made.
    #[schema(max_items = 16)]
    attempts: Vec<DeliveryTry<'a>>,
}

impl<'a> From<&'a Otp> for CodeStatus<'a> {
    fn from(otp: &'a Otp) -> Self {
        Self {
            otp_id: Text(otp.id),
            status: otp.delivery.status.as_str(),
            channel: channel(otp.project_mode.mode, otp.delivery.channel()),
            created_at: instant(otp.created_at),
            expires_at: instant(otp.expires_at),
            attempts: otp.delivery.attempts.iter().map(Into::into).collect(),
        }
    }
}

/// An attempt to deliver a code over one channel.
#[derive(Serialize, ToSchema)]
struct DeliveryTry<'a> {
    #[schema(schema_with = schema::channel)]
    channel: &'static str,
    /// Configured name of the provider.
    #[schema(min_length = 1, max_length = 64, example = "meta")]
    provider: &'a str,
    #[schema(schema_with = schema::attempt_status)]
    status: &'static str,
    #[schema(schema_with = schema::reason, required = true)]
    reason: Option<&'static str>,
    #[schema(schema_with = schema::instant)]
    at: String,
}

impl<'a> From<&'a DeliveryAttempt> for DeliveryTry<'a> {
    fn from(attempt: &'a DeliveryAttempt) -> Self {
        Self {
            channel: attempt.channel.as_str(),
            provider: &attempt.provider,
            status: attempt.status.as_str(),
            reason: attempt.reason.map(Reason::as_str),
            at: instant(attempt.at),
        }
    }
}

/// The result of a check with the right code.
#[derive(Serialize, ToSchema)]
pub(crate) struct CheckedCode {
    #[schema(schema_with = schema::yes)]
    verified: bool,
}

impl CheckedCode {
    pub(crate) const RIGHT: Self = Self { verified: true };
}

/// The tokens of a session.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tokens<'a> {
    /// A JWT as in RFC 9068.
    #[schema(min_length = 1, max_length = 4096, example = "eyJhbGciOiJFUzI1NiIs…")]
    access_token: &'a str,
    /// Valid for one refresh, which returns the next one.
    #[schema(min_length = 1, max_length = 4096, example = "svc_rt_…")]
    refresh_token: &'a str,
    #[schema(schema_with = schema::bearer)]
    token_type: &'static str,
    /// Seconds until the access token expires.
    #[schema(minimum = 0, example = 900)]
    expires_in: i64,
    /// Seconds until the refresh token expires.
    #[schema(minimum = 0, example = 2_592_000)]
    refresh_expires_in: i64,
    #[schema(schema_with = schema::id)]
    session_id: Text<SessionId>,
    /// The same for a phone at every login, until the identity is deleted.
    #[schema(schema_with = schema::id)]
    identity_id: Text<IdentityId>,
    /// Keep it on the person's device, in a cookie that no script can read, and show it on the next
    /// send and verify of this phone. Only in the answer of verify, and only if the project's guard
    /// is not off.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 512, example = "svc_dt_…", nullable = false)]
    device: Option<&'a str>,
}

impl<'a> From<&'a VerifiedOtp> for Tokens<'a> {
    fn from(verified: &'a VerifiedOtp) -> Self {
        let device = verified.device.as_ref().map(DeviceToken::expose);
        Self { device, ..Self::from(&verified.tokens) }
    }
}

impl<'a> From<&'a TokenPair> for Tokens<'a> {
    fn from(pair: &'a TokenPair) -> Self {
        Self {
            access_token: pair.access.expose(),
            refresh_token: pair.refresh.expose(),
            token_type: "Bearer",
            expires_in: pair.expires_in,
            refresh_expires_in: pair.refresh_expires_in,
            session_id: Text(pair.session),
            identity_id: Text(pair.identity),
            device: None,
        }
    }
}

/// The session of a valid access token.
#[derive(Serialize, ToSchema)]
pub(crate) struct LiveSession {
    #[schema(schema_with = schema::yes)]
    valid: bool,
    #[schema(schema_with = schema::id)]
    session_id: Text<SessionId>,
    #[schema(schema_with = schema::id)]
    identity_id: Text<IdentityId>,
    #[schema(schema_with = schema::instant)]
    issued_at: String,
    #[schema(schema_with = schema::instant)]
    expires_at: String,
    /// Seconds until the access token expires.
    #[schema(minimum = 0, example = 874)]
    expires_in: i64,
}

impl From<&ValidSession> for LiveSession {
    fn from(session: &ValidSession) -> Self {
        Self {
            valid: true,
            session_id: Text(session.session),
            identity_id: Text(session.identity),
            issued_at: instant(session.issued_at),
            expires_at: instant(session.expires_at),
            expires_in: session.expires_in,
        }
    }
}

/// The state of a token (RFC 7662 section 2.2). For a token that is not active, `active` is the
/// only member.
#[derive(Default, Serialize, ToSchema)]
pub(crate) struct Introspection {
    /// Whether the token is valid now, for the project and mode of this key.
    #[schema(example = true)]
    active: bool,
    /// The identity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schema::id)]
    sub: Option<Text<IdentityId>>,
    /// The project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schema::id)]
    client_id: Option<Text<ProjectId>>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schema::id)]
    sid: Option<Text<SessionId>>,
    /// When it was issued, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, example = 1_800_000_000, nullable = false)]
    iat: Option<i64>,
    /// When it expires, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 0, example = 1_800_000_900, nullable = false)]
    exp: Option<i64>,
    /// The issuer, as the token names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 2_048, example = "https://otp.example.com", nullable = false)]
    iss: Option<String>,
    /// The project.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schema::id)]
    aud: Option<Text<ProjectId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(schema_with = schema::bearer)]
    token_type: Option<&'static str>,
}

impl From<&IntrospectedToken> for Introspection {
    fn from(IntrospectedToken { session, project_mode, issuer }: &IntrospectedToken) -> Self {
        Self {
            active: true,
            sub: Some(Text(session.identity)),
            client_id: Some(Text(project_mode.project)),
            sid: Some(Text(session.session)),
            iat: Some(session.issued_at.timestamp()),
            exp: Some(session.expires_at.timestamp()),
            iss: Some(issuer.clone()),
            aud: Some(Text(project_mode.project)),
            token_type: Some("Bearer"),
        }
    }
}

/// A person who has logged in by phone.
#[derive(Serialize, ToSchema)]
pub(crate) struct Identity {
    #[schema(schema_with = schema::id)]
    id: Text<IdentityId>,
    #[schema(schema_with = schema::phone)]
    phone: String,
    #[schema(schema_with = schema::instant)]
    created_at: String,
    #[schema(schema_with = schema::instant)]
    last_verified_at: String,
}

impl From<&FoundIdentity> for Identity {
    fn from(found: &FoundIdentity) -> Self {
        Self {
            id: Text(found.id),
            phone: found.phone.e164(),
            created_at: instant(found.created_at),
            last_verified_at: instant(found.last_verified_at),
        }
    }
}

/// An identity that was deleted with its sessions.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeletedIdentity {
    #[schema(schema_with = schema::id)]
    id: Text<IdentityId>,
    #[schema(schema_with = schema::yes)]
    deleted: bool,
    /// Number of sessions that were ended.
    #[schema(minimum = 0, example = 2)]
    sessions_revoked: u64,
}

impl DeletedIdentity {
    pub(crate) const fn new(id: IdentityId, erased: Erased) -> Self {
        Self { id: Text(id), deleted: true, sessions_revoked: erased.sessions_revoked }
    }
}

/// Messages of a test key to a phone, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct SandboxMessages<'a> {
    #[schema(max_items = 100)]
    messages: Vec<SandboxText<'a>>,
}

impl<'a> SandboxMessages<'a> {
    pub(crate) fn new(messages: &'a [SandboxMessage], phone: &Phone) -> Self {
        Self { messages: messages.iter().map(|it| SandboxText::new(it, phone)).collect() }
    }
}

/// A message that a test key sent.
#[derive(Serialize, ToSchema)]
struct SandboxText<'a> {
    #[schema(schema_with = schema::id)]
    otp_id: Text<OtpId>,
    #[schema(schema_with = schema::phone)]
    phone: String,
    #[schema(schema_with = schema::channel)]
    channel: &'static str,
    /// Text as the phone would show it.
    #[schema(max_length = 1000, example = "482913 is your verification code.")]
    text: &'a str,
    #[schema(schema_with = schema::sent_code)]
    code: &'a str,
    #[schema(schema_with = schema::instant)]
    at: String,
}

impl<'a> SandboxText<'a> {
    fn new(message: &'a SandboxMessage, phone: &Phone) -> Self {
        Self {
            otp_id: Text(message.otp),
            phone: phone.e164(),
            channel: message.channel.as_str(),
            text: &message.text,
            code: message.code.expose(),
            at: instant(message.at),
        }
    }
}

/// A session that has ended.
#[derive(Serialize, ToSchema)]
pub(crate) struct EndedSession {
    #[schema(schema_with = schema::yes)]
    pub(crate) revoked: bool,
}

/// A process that is running.
#[derive(Serialize, ToSchema)]
pub(crate) struct Alive {
    #[schema(schema_with = schema::ok)]
    pub(crate) status: &'static str,
}

/// A process that can answer requests.
#[derive(Serialize, ToSchema)]
pub(crate) struct Ready<'a> {
    #[schema(schema_with = schema::ready)]
    pub(crate) status: &'static str,
    /// Background loops that were restarted; absent if there are none.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    #[schema(value_type = Vec<LoopHealth>, required = false, max_items = 32)]
    pub(crate) loops: &'a [LoopHealth],
    /// What is wrong with the clock of this machine; absent if nothing is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(
        required = false,
        nullable = false,
        max_length = 200,
        example = "the clock of this machine is 3 s ahead of the database's"
    )]
    pub(crate) clock: Option<&'a str>,
}
