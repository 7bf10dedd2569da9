use crate::error::{ApiError, ErrorCode};
use crate::json::schema;
use dwar_identity::DeviceToken;
use dwar_kernel::{OtpId, Phone};
use dwar_otp::idempotency::{IdempotencyKey, MalformedReference};
use dwar_otp::{Code, InvalidRelayedCode};
use dwar_ratelimit::guard::{self, GuardPass, InvalidVisitorAddress};
use dwar_session::AccessToken;
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;
use utoipa::ToSchema;
use zeroize::Zeroizing;

/// Phone to send a code to.
#[derive(Default, serde::Deserialize, ToSchema)]
#[serde(default)]
pub(crate) struct SendBody {
    #[schema(schema_with = schema::given_phone, required = true)]
    pub(crate) phone: Field<Phone>,
    /// Domain or app hash in the last line of an SMS, which lets a page or an app fill in the code.
    /// One of those that the project allows; default: the project's own. WhatsApp has no such line.
    #[schema(schema_with = schema::last_line)]
    pub(crate) last_line: Option<Field<String>>,
    /// Who asks for the code, as far as you know; the guard of the project judges by it.
    #[schema(schema_with = schema::visitor)]
    pub(crate) visitor: Option<GivenVisitor>,
    #[schema(schema_with = schema::device)]
    pub(crate) device: Option<Field<GivenDevice>>,
}

/// The member `visitor` of a send, or why it is invalid.
pub(crate) struct GivenVisitor(pub(crate) Result<guard::Visitor, WrongMember>);

/// The name of a member, and the rule that it breaks.
type WrongMember = (&'static str, String);

impl<'de> Deserialize<'de> for GivenVisitor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|given| Self(visitor(&given)))
    }
}

/// Reads a visitor; absent members and `null` mean that nothing is known.
fn visitor(given: &Value) -> Result<guard::Visitor, WrongMember> {
    let members = given.as_object().ok_or(("visitor", "must be an object".to_owned()))?;
    let known = |name: &str| members.get(name).filter(|member| !member.is_null());
    let address = known("address").map(|text| {
        let text = text.as_str().unwrap_or_default();
        text.parse().map_err(|why: InvalidVisitorAddress| ("visitor.address", why.to_string()))
    });
    let trusted = known("trusted").map(|switch| {
        switch.as_bool().ok_or(("visitor.trusted", "must be true or false".to_owned()))
    });
    let is_trusted = trusted.transpose()?.unwrap_or_default();
    let pass = is_trusted.then_some(GuardPass::Trusted);
    Ok(guard::Visitor { address: address.transpose()?, pass })
}

/// What a person's browser showed as the token of a known device. Other text counts as absent, since
/// anybody can put it there.
pub(crate) struct GivenDevice(Option<DeviceToken>);

/// The text is longer than [`schema::LONGEST_DEVICE`].
pub(crate) struct TooLong;

impl GivenDevice {
    /// The token in the member `device` of a body.
    ///
    /// # Errors
    /// The member is not text, or too long.
    pub(crate) fn token(member: Option<Field<Self>>) -> Result<Option<DeviceToken>, ApiError> {
        let Some(member) = member else { return Ok(None) };
        let rule = format!("must be text of at most {} characters", schema::LONGEST_DEVICE);
        member.get().map(|given| given.0).ok_or_else(|| ApiError::field("device", &rule))
    }
}

impl FromStr for GivenDevice {
    type Err = TooLong;

    fn from_str(text: &str) -> Result<Self, TooLong> {
        if text.chars().count() > schema::LONGEST_DEVICE {
            return Err(TooLong);
        }
        Ok(Self(text.parse().ok()))
    }
}

/// A code of your own, and the phone to send it to.
#[derive(Default, serde::Deserialize, ToSchema)]
#[serde(default)]
pub(crate) struct RelayBody {
    #[schema(schema_with = schema::given_phone, required = true)]
    pub(crate) phone: Field<Phone>,
    #[schema(schema_with = schema::relayed_code, required = true)]
    pub(crate) code: Field<RelayedCode>,
    #[schema(schema_with = schema::relay_lifetime, required = true)]
    pub(crate) expires_in: Seconds,
    /// Works as an `Idempotency-Key`, for callers that cannot vary their headers. Absent and `null`
    /// mean the same: none.
    #[schema(schema_with = schema::reference)]
    pub(crate) reference: Option<Field<Reference>>,
}

/// An `Idempotency-Key` in a body.
pub(crate) struct Reference(pub(crate) IdempotencyKey);

impl FromStr for Reference {
    type Err = MalformedReference;

    fn from_str(text: &str) -> Result<Self, MalformedReference> {
        IdempotencyKey::of_reference(text).map(Self)
    }
}

pub(crate) struct RelayedCode(pub(crate) Code);

impl FromStr for RelayedCode {
    type Err = InvalidRelayedCode;

    fn from_str(text: &str) -> Result<Self, InvalidRelayedCode> {
        Code::relayed(text).map(Self)
    }
}

/// A member that is a whole number of seconds; `None` for any other value.
#[derive(Default)]
pub(crate) struct Seconds(pub(crate) Option<u64>);

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(deserializer)?;
        // 600.0 is also the integer 600 (JSON Schema 2020-12, 6.1.1).
        let written_out =
            || given.as_f64().filter(|it| it.fract() == 0.0 && (0.0..1e9).contains(it));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, and within bounds"
        )]
        let whole = given.as_u64().or_else(|| written_out().map(|it| it as u64));
        Ok(Self(whole))
    }
}

/// A code as a person entered it.
#[derive(Default, serde::Deserialize, ToSchema)]
#[serde(default)]
pub(crate) struct VerifyBody {
    #[schema(schema_with = schema::given_phone, required = true)]
    pub(crate) phone: Field<Phone>,
    #[schema(schema_with = schema::code, required = true)]
    pub(crate) code: Field<Code>,
    /// Request that the code must belong to. Absent or `null` accepts the current code of the
    /// phone.
    #[schema(schema_with = schema::id_or_null)]
    pub(crate) otp_id: Option<Field<OtpId>>,
    #[schema(schema_with = schema::device)]
    pub(crate) device: Option<Field<GivenDevice>>,
}

/// An access token.
#[derive(Default, serde::Deserialize, ToSchema)]
#[serde(default)]
pub(crate) struct AccessBody {
    #[schema(schema_with = schema::token, required = true)]
    pub(crate) access_token: Field<Token>,
}

/// A token to be introspected (RFC 7662 section 2.1).
// Only the document needs it: the form is read parameter by parameter.
#[derive(ToSchema)]
pub(crate) struct IntrospectionForm {
    #[expect(dead_code, reason = "read by nothing but the document")]
    #[schema(schema_with = schema::introspected_token, required = true)]
    token: String,
}

/// A refresh token.
#[derive(Default, serde::Deserialize, ToSchema)]
#[serde(default)]
pub(crate) struct RefreshBody {
    #[schema(schema_with = schema::token, required = true)]
    pub(crate) refresh_token: Field<Token>,
}

/// A token as a client sent it: any non-empty text. Dropping it wipes it.
pub(crate) struct Token(Zeroizing<String>);

impl Token {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Token {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if text.is_empty() { Err(()) } else { Ok(Self(Zeroizing::new(text.to_owned()))) }
    }
}

impl From<Token> for AccessToken {
    fn from(Token(text): Token) -> Self {
        Self::new(text.as_str())
    }
}

/// A member that is a string which parses as `T`. Absent, wrong type and invalid text are treated
/// alike. They become an error only when the order of checks reaches the member.
pub(crate) struct Field<T>(Option<T>);

impl<T> Field<T> {
    pub(crate) fn get(self) -> Option<T> {
        self.0
    }

    pub(crate) fn or(self, code: ErrorCode) -> Result<T, ApiError> {
        self.0.ok_or_else(|| code.into())
    }
}

impl<T> Default for Field<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Lenient(PhantomData)).map(Self)
    }
}

struct Lenient<T>(PhantomData<T>);

impl<'de, T: FromStr> Visitor<'de> for Lenient<T> {
    type Value = Option<T>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(text.parse().ok())
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }
}
