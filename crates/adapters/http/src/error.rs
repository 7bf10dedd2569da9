use crate::limits::RateLimit;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use dwar_app::{
    AuthenticateError, DeleteIdentityError, FindIdentityError, ListEventsError, LogoutError,
    OtpStatusError, ProjectIssuerError, ReceiveHookError, ReceiveWebhookError, RefreshSessionError,
    RelayOtpError, SandboxMessagesError, SendOtpError, ValidateSessionError, VerifyOtpError,
};
use dwar_kernel::{StoreError, with_causes};
use dwar_otp::{HookRefusal, InvalidRelayedCode};
use dwar_ratelimit::Admission;
use dwar_wire::RETRY_AN_OUTAGE;
use std::fmt::Display;

dwar_wire::codes! {
    /// Every refusal that a client can get: those of an endpoint first, then those of every call.
    pub enum ErrorCode {
        MissingApiKey "MISSING_API_KEY" UNAUTHORIZED
            "The X-Api-Key header is missing."
        InvalidApiKey "INVALID_API_KEY" UNAUTHORIZED
            "The API key is not recognised."
        InvalidPhone "INVALID_PHONE" UNPROCESSABLE_ENTITY
            "The phone number is not a valid Indian mobile number."
        InvalidOtpCode "INVALID_OTP_CODE" UNPROCESSABLE_ENTITY
            "The code must be exactly 6 digits."
        MissingAccessToken "MISSING_ACCESS_TOKEN" UNPROCESSABLE_ENTITY
            "The body lacks access_token."
        MissingRefreshToken "MISSING_REFRESH_TOKEN" UNPROCESSABLE_ENTITY
            "The body lacks refresh_token."
        OtpRateLimited "OTP_RATE_LIMITED" TOO_MANY_REQUESTS
            "Too many codes were requested for this phone number."
        OtpNotFound "OTP_NOT_FOUND" BAD_REQUEST
            "There is no active code for this phone number."
        InvalidOtp "INVALID_OTP" BAD_REQUEST
            "The code is incorrect."
        VerifyRateLimited "VERIFY_RATE_LIMITED" TOO_MANY_REQUESTS
            "Too many incorrect attempts; request a new code."
        SmsFailed "SMS_FAILED" INTERNAL_SERVER_ERROR
            "The code could not be delivered over any channel. Nothing was charged."
        OtpRequestNotFound "OTP_REQUEST_NOT_FOUND" NOT_FOUND
            "There is no OTP request with this id."
        InsufficientBalance "INSUFFICIENT_BALANCE" PAYMENT_REQUIRED
            "The wallet balance is too low. Nothing was sent or charged."
        ProofRequired "PROOF_REQUIRED" FORBIDDEN
            "A proof that a person wants the code is required. Nothing was sent or charged."
        SessionExpired "SESSION_EXPIRED" UNAUTHORIZED
            "The refresh token is expired or invalid."
        InvalidAccessToken "INVALID_ACCESS_TOKEN" UNAUTHORIZED
            "The access token is invalid or expired."
        RateLimited "RATE_LIMITED" TOO_MANY_REQUESTS
            "Too many requests with this API key."
        IdentityDeleteDisabled "IDENTITY_DELETE_DISABLED" FORBIDDEN
            "Identity deletion is not enabled for this project."
        IdentityNotFound "IDENTITY_NOT_FOUND" NOT_FOUND
            "There is no such identity."
        InvalidRequest "INVALID_REQUEST" BAD_REQUEST
            "The request cannot be read."
        NotFound "NOT_FOUND" NOT_FOUND
            "There is no such resource."
        MethodNotAllowed "METHOD_NOT_ALLOWED" METHOD_NOT_ALLOWED
            "The resource does not support this method."
        PayloadTooLarge "PAYLOAD_TOO_LARGE" PAYLOAD_TOO_LARGE
            "The body is too large."
        UnsupportedMediaType "UNSUPPORTED_MEDIA_TYPE" UNSUPPORTED_MEDIA_TYPE
            "The body must be JSON."
        IdentityLookupDisabled "IDENTITY_LOOKUP_DISABLED" FORBIDDEN
            "Identity look-up is not enabled for this project."
        InvalidField "INVALID_FIELD" UNPROCESSABLE_ENTITY
            "A field has an invalid value."
        RelayDisabled "RELAY_DISABLED" FORBIDDEN
            "Relaying codes is not enabled for this project and mode."
        EventsFeedDisabled "EVENTS_FEED_DISABLED" FORBIDDEN
            "The feed of events is not enabled for this project."
        CursorInvalidated "CURSOR_INVALIDATED" CONFLICT
            "The database was restored since this cursor was given; begin again without one."
        CursorExpired "CURSOR_EXPIRED" GONE
            "Events after this cursor are no longer kept; begin again without one."
        SpendLimitReached "SPEND_LIMIT_REACHED" PAYMENT_REQUIRED
            "The project's spend of the day has reached its limit. Nothing was sent or charged."
        IdempotencyConflict "IDEMPOTENCY_CONFLICT" CONFLICT
            "The first request with this Idempotency-Key is still running."
        IdempotencyKeyReused "IDEMPOTENCY_KEY_REUSED" UNPROCESSABLE_ENTITY
            "The Idempotency-Key was already used with another body."
        WebhookUnauthenticated "WEBHOOK_UNAUTHENTICATED" UNAUTHORIZED
            "The request could not be verified as the provider's."
        InternalError "INTERNAL_ERROR" INTERNAL_SERVER_ERROR
            "Something went wrong on our side."
        ServiceUnavailable "SERVICE_UNAVAILABLE" SERVICE_UNAVAILABLE
            "The service is temporarily unavailable."
    }
}

pub(crate) const REPLAYED: HeaderName = HeaderName::from_static("idempotent-replayed");

impl ErrorCode {
    /// The code for a failure that the framework noticed before our code ran.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        let same = |code: &Self| code.status_code() == status;
        let of_the_framework =
            [Self::NotFound, Self::MethodNotAllowed, Self::PayloadTooLarge, Self::InvalidRequest];
        match of_the_framework.into_iter().find(same) {
            Some(code) => code,
            None if status.is_client_error() => Self::InvalidRequest,
            None => Self::InternalError,
        }
    }

    /// The `WWW-Authenticate` header of a 401 (RFC 9110 section 11.6.1, RFC 6750 section 3).
    const fn challenge(self) -> Option<&'static str> {
        match self {
            Self::MissingApiKey | Self::InvalidApiKey => Some(r#"ApiKey realm="v1""#),
            Self::InvalidAccessToken | Self::SessionExpired => {
                Some(r#"Bearer realm="v1", error="invalid_token""#)
            }
            Self::WebhookUnauthenticated => Some(r#"Signature realm="webhooks""#),
            _ => None,
        }
    }
}

/// A refusal without its body, which the outermost middleware writes with the request id.
#[derive(Debug, thiserror::Error)]
#[error("{}", code.as_str())]
pub(crate) struct ApiError {
    pub(crate) code: ErrorCode,
    pub(crate) rate: Option<RateLimit>,
    /// A sentence for people that is more specific than the code's own.
    pub(crate) said: Option<String>,
    allow: Option<String>,
    replayed: bool,
    cause: Option<Box<StoreError>>,
    /// The challenge of a 401, if it differs from that of its code.
    challenge: Option<&'static str>,
    /// Whether the answer omits `Retry-After`.
    for_good: bool,
}

impl ApiError {
    pub(crate) fn limited(code: ErrorCode, rate: impl Into<RateLimit>) -> Self {
        Self { rate: Some(rate.into()), ..code.into() }
    }

    pub(crate) fn field(name: &str, rule: impl Display) -> Self {
        Self { said: Some(format!("{name}: {rule}.")), ..ErrorCode::InvalidField.into() }
    }

    /// There is no bearer token. The challenge names no error if no credentials were sent (RFC 6750
    /// section 3.1).
    pub(crate) fn no_bearer_token() -> Self {
        let refusal: Self = ErrorCode::InvalidAccessToken.into();
        let refusal = refusal.saying("The Authorization header has no bearer token.");
        Self { challenge: Some(r#"Bearer realm="v1""#), ..refusal }
    }

    /// Changes the challenge to HTTP Basic (RFC 7617), if the refusal is about the key.
    pub(crate) fn asking_for_basic(self) -> Self {
        let challenge = self.code.challenge().map(|_| r#"Basic realm="v1""#);
        Self { challenge, ..self }
    }

    pub(crate) fn saying(self, sentence: &str) -> Self {
        Self { said: Some(sentence.to_owned()), ..self }
    }

    /// Refuses a method that the resource does not have; `allow` lists its methods.
    pub(crate) fn method_not_allowed(allow: impl Into<String>) -> Self {
        Self { allow: Some(allow.into()), ..ErrorCode::MethodNotAllowed.into() }
    }

    /// Removes `Retry-After` from the refusal.
    pub(crate) fn for_good(self) -> Self {
        Self { for_good: true, ..self }
    }

    /// A refusal with the remaining allowance. Without one it is the stored first answer to an
    /// `Idempotency-Key`.
    fn limited_or_replayed(code: ErrorCode, at: Option<Admission>) -> Self {
        match at {
            Some(at) => Self::limited(code, at),
            None => Self { replayed: true, ..code.into() },
        }
    }

    /// Logs the details that must never reach a client: which technology failed, and how. A store
    /// without space has logged that itself, once and not per request.
    pub(crate) fn log_cause(&self) {
        let Some(cause) = &self.cause else { return };
        if matches!(**cause, StoreError::NoRoom) {
            return;
        }
        let chain = with_causes(&**cause);
        if cause.is_transient() {
            tracing::warn!(cause = chain, "a store is out of reach");
        } else {
            tracing::error!(cause = chain, "a store failed");
        }
    }

    fn retry_after(&self) -> Option<u64> {
        match self.code.status_code() {
            _ if self.for_good => None,
            StatusCode::TOO_MANY_REQUESTS => Some(self.rate.map_or(1, RateLimit::retry_after)),
            StatusCode::SERVICE_UNAVAILABLE => Some(RETRY_AN_OUTAGE),
            _ => None,
        }
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.code.status_code()
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::new(self.status_code());
        let headers = response.headers_mut();
        let mut fixed = |name, value| headers.insert(name, HeaderValue::from_static(value));
        let challenge = self.challenge.or(self.code.challenge());
        challenge.map(|value| fixed(header::WWW_AUTHENTICATE, value));
        self.replayed.then(|| fixed(REPLAYED, "true"));
        if let Some(allow) = self.allow.as_deref().and_then(|allow| allow.parse().ok()) {
            headers.insert(header::ALLOW, allow);
        }
        self.retry_after().map(|value| headers.insert(header::RETRY_AFTER, value.into()));
        response
    }
}

impl From<ErrorCode> for ApiError {
    fn from(code: ErrorCode) -> Self {
        Self {
            code,
            rate: None,
            said: None,
            allow: None,
            replayed: false,
            cause: None,
            challenge: None,
            for_good: false,
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(cause: StoreError) -> Self {
        let code = if cause.is_transient() {
            ErrorCode::ServiceUnavailable
        } else {
            ErrorCode::InternalError
        };
        Self { cause: Some(Box::new(cause)), ..code.into() }
    }
}

/// Converts errors of use cases whose variants carry no data.
macro_rules! refusals {
    ($($error:ident { $($variant:ident => $code:ident),+ })+) => {$(
        impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                match error {
                    $($error::$variant => ErrorCode::$code.into(),)+
                    $error::Store(cause) => cause.into(),
                }
            }
        }
    )+};
}

refusals! {
    AuthenticateError { Unrecognised => InvalidApiKey }
    OtpStatusError { NotFound => OtpRequestNotFound }
    ValidateSessionError { Invalid => InvalidAccessToken }
    RefreshSessionError { Expired => SessionExpired }
    LogoutError { Invalid => InvalidAccessToken }
    FindIdentityError { Disabled => IdentityLookupDisabled, NotFound => IdentityNotFound }
    DeleteIdentityError { Disabled => IdentityDeleteDisabled, NotFound => IdentityNotFound }
    ProjectIssuerError { NotFound => NotFound }
    SandboxMessagesError { LiveKey => NotFound }
    ReceiveHookError { Unauthenticated => WebhookUnauthenticated }
    ReceiveWebhookError {
        UnknownProvider => NotFound,
        Unauthenticated => WebhookUnauthenticated,
        Unreadable => InvalidRequest
    }
}

impl From<SendOtpError> for ApiError {
    fn from(error: SendOtpError) -> Self {
        match error {
            SendOtpError::RateLimited(it) => Self::limited(ErrorCode::OtpRateLimited, it.admission),
            SendOtpError::InsufficientBalance(at) => {
                Self::limited_or_replayed(ErrorCode::InsufficientBalance, at)
            }
            SendOtpError::SpendLimitReached(at) => {
                Self::limited_or_replayed(ErrorCode::SpendLimitReached, at)
            }
            SendOtpError::Undeliverable(at) => Self::limited_or_replayed(ErrorCode::SmsFailed, at),
            SendOtpError::ProofRequired => ErrorCode::ProofRequired.into(),
            SendOtpError::Conflict => ErrorCode::IdempotencyConflict.into(),
            SendOtpError::Reused => ErrorCode::IdempotencyKeyReused.into(),
            SendOtpError::Store(cause) => cause.into(),
        }
    }
}

impl From<RelayOtpError> for ApiError {
    fn from(error: RelayOtpError) -> Self {
        match error {
            RelayOtpError::Disabled => ErrorCode::RelayDisabled.into(),
            RelayOtpError::FixedLifetime(_) => Self::field("expires_in", error),
            RelayOtpError::Send(error) => error.into(),
        }
    }
}

impl From<ListEventsError> for ApiError {
    fn from(error: ListEventsError) -> Self {
        match error {
            ListEventsError::NotACursor => Self::field("after", error),
            ListEventsError::Disabled => ErrorCode::EventsFeedDisabled.into(),
            ListEventsError::Restored => ErrorCode::CursorInvalidated.into(),
            ListEventsError::Expired => ErrorCode::CursorExpired.into(),
            ListEventsError::Store(cause) => cause.into(),
        }
    }
}

impl ErrorCode {
    /// The code of a hook's refusal in logs and figures, which the hook's owner reads.
    pub(crate) const fn of_hook(refusal: HookRefusal) -> Self {
        match refusal {
            HookRefusal::TooLarge => Self::PayloadTooLarge,
            HookRefusal::Unreadable => Self::InvalidRequest,
            HookRefusal::InvalidPhone => Self::InvalidPhone,
            HookRefusal::InvalidCode => Self::InvalidField,
            HookRefusal::PhoneLimited => Self::OtpRateLimited,
            HookRefusal::ProjectLimited => Self::RateLimited,
            HookRefusal::Undelivered => Self::SmsFailed,
            HookRefusal::InsufficientBalance => Self::InsufficientBalance,
            HookRefusal::SpendLimitReached => Self::SpendLimitReached,
            HookRefusal::Unavailable => Self::ServiceUnavailable,
        }
    }
}

impl From<HookRefusal> for ApiError {
    fn from(refusal: HookRefusal) -> Self {
        match refusal {
            HookRefusal::InvalidCode => Self::field("code", InvalidRelayedCode),
            // The person who waits for the code can do nothing about these.
            HookRefusal::InsufficientBalance | HookRefusal::SpendLimitReached => {
                ErrorCode::ServiceUnavailable.into()
            }
            other => ErrorCode::of_hook(other).into(),
        }
    }
}

impl From<VerifyOtpError> for ApiError {
    fn from(error: VerifyOtpError) -> Self {
        match error {
            VerifyOtpError::NotFound => ErrorCode::OtpNotFound.into(),
            VerifyOtpError::Wrong(at) => Self::limited(ErrorCode::InvalidOtp, at),
            VerifyOtpError::Locked(at) => Self::limited(ErrorCode::VerifyRateLimited, at),
            VerifyOtpError::Store(cause) => cause.into(),
        }
    }
}
