use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use dwar_console::ManageError;
use dwar_kernel::StoreError;
use dwar_wire::{RETRY_AN_OUTAGE, Refused, store_failed};
use std::borrow::Cow;

dwar_wire::codes! {
    /// Every refusal of the admin API. Codes that the public API has too mean the same there.
    pub enum AdminCode {
        MissingAdminToken "MISSING_ADMIN_TOKEN" UNAUTHORIZED
            "The header Authorization: Bearer is missing."
        InvalidAdminToken "INVALID_ADMIN_TOKEN" UNAUTHORIZED
            "The admin token is not recognised, has expired or was revoked."
        Forbidden "FORBIDDEN" FORBIDDEN
            "The role of this token does not allow this."
        ForeignOrigin "FOREIGN_ORIGIN" FORBIDDEN
            "The admin API refuses requests from web pages."
        NotFound "NOT_FOUND" NOT_FOUND
            "There is no such resource."
        MethodNotAllowed "METHOD_NOT_ALLOWED" METHOD_NOT_ALLOWED
            "The resource does not support this method."
        Conflict "CONFLICT" CONFLICT
            "The current state does not allow this request. Nothing was changed."
        InvalidRequest "INVALID_REQUEST" BAD_REQUEST
            "The request cannot be read."
        InvalidField "INVALID_FIELD" UNPROCESSABLE_ENTITY
            "A field has an invalid value."
        PayloadTooLarge "PAYLOAD_TOO_LARGE" PAYLOAD_TOO_LARGE
            "The body is too large."
        UnsupportedMediaType "UNSUPPORTED_MEDIA_TYPE" UNSUPPORTED_MEDIA_TYPE
            "The body must be JSON."
        MisdirectedRequest "MISDIRECTED_REQUEST" MISDIRECTED_REQUEST
            "This service does not serve the host name in the Host header."
        TokenRateLimited "TOKEN_RATE_LIMITED" TOO_MANY_REQUESTS
            "This address sent too many requests with invalid tokens."
        SearchRateLimited "SEARCH_RATE_LIMITED" TOO_MANY_REQUESTS
            "A role that sees masked phone numbers can search for 60 numbers an hour and 200 a day."
        InternalError "INTERNAL_ERROR" INTERNAL_SERVER_ERROR
            "Something went wrong on our side."
        ServiceUnavailable "SERVICE_UNAVAILABLE" SERVICE_UNAVAILABLE
            "The service is temporarily unavailable."
    }
}

impl AdminCode {
    /// The code for a failure that the framework noticed before our code ran.
    fn of_status(status: StatusCode) -> Self {
        let same = |code: &&Self| code.status_code() == status;
        match Self::ALL.iter().find(same) {
            Some(code) => *code,
            None if status.is_client_error() => Self::InvalidRequest,
            None => Self::InternalError,
        }
    }

    /// The `WWW-Authenticate` header of a 401 (RFC 6750 section 3).
    const fn challenge(self) -> Option<&'static str> {
        match self {
            Self::MissingAdminToken => Some(r#"Bearer realm="admin""#),
            Self::InvalidAdminToken => Some(r#"Bearer realm="admin", error="invalid_token""#),
            _ => None,
        }
    }
}

/// A refusal without its body, which [`crate::complete`] writes with the id of the request.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub(crate) struct ApiRefusal {
    pub(crate) code: AdminCode,
    sentence: Cow<'static, str>,
    allow: Option<String>,
    /// In seconds.
    retry_after: Option<u64>,
}

impl ApiRefusal {
    /// Makes a refusal with a more specific sentence than the table has.
    pub(crate) fn saying(code: AdminCode, sentence: impl Into<Cow<'static, str>>) -> Self {
        Self { sentence: sentence.into(), ..code.into() }
    }

    /// Refuses a field with an invalid value and says why.
    pub(crate) fn field(name: &str, why: impl std::fmt::Display) -> Self {
        Self::saying(AdminCode::InvalidField, format!("{name}: {why}"))
    }

    /// Refuses a method that the resource does not have; `allow` lists its methods.
    pub(crate) fn method_not_allowed(allow: String) -> Self {
        Self { allow: Some(allow), ..AdminCode::MethodNotAllowed.into() }
    }

    /// Refuses after too many failures; the count resets in this many seconds.
    pub(crate) fn limited(retry_after: u64) -> Self {
        Self { retry_after: Some(retry_after), ..AdminCode::TokenRateLimited.into() }
    }

    /// The body of an answer that is a refusal of any origin; `None` for other answers.
    pub(crate) fn body_of(response: &HttpResponse, request_id: &str) -> Option<Vec<u8>> {
        let own = response.error().and_then(actix_web::Error::as_error::<Self>);
        let status = response.status();
        if own.is_none() && !status.is_client_error() && !status.is_server_error() {
            return None;
        }
        let code = own.map_or_else(|| AdminCode::of_status(status), |own| own.code);
        let sentence = own.map_or(code.message(), |own| own.sentence.as_ref());
        Some(Refused { error: sentence, code: code.as_str(), request_id }.to_json())
    }
}

impl ResponseError for ApiRefusal {
    fn status_code(&self) -> StatusCode {
        self.code.status_code()
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::new(self.status_code());
        let headers = response.headers_mut();
        if let Some(challenge) = self.code.challenge() {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        if let Some(allow) = self.allow.as_deref().and_then(|allow| allow.parse().ok()) {
            headers.insert(header::ALLOW, allow);
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<AdminCode> for ApiRefusal {
    fn from(code: AdminCode) -> Self {
        let outage = code == AdminCode::ServiceUnavailable;
        Self {
            code,
            sentence: code.message().into(),
            allow: None,
            retry_after: outage.then_some(RETRY_AN_OUTAGE),
        }
    }
}

impl From<ManageError> for ApiRefusal {
    fn from(cause: ManageError) -> Self {
        match cause {
            ManageError::Forbidden => AdminCode::Forbidden.into(),
            ManageError::NoSuchProject | ManageError::NotFound(_) => AdminCode::NotFound.into(),
            ManageError::Invalid { field, reason } => Self::field(field, reason),
            ManageError::Conflict(sentence) => Self::saying(AdminCode::Conflict, sentence),
            ManageError::MayNotDelegate => Self::saying(AdminCode::Forbidden, cause.to_string()),
            ManageError::SearchedTooMuch { seconds, .. } => {
                Self { retry_after: Some(seconds), ..AdminCode::SearchRateLimited.into() }
            }
            ManageError::Store(cause) => cause.into(),
        }
    }
}

impl From<StoreError> for ApiRefusal {
    fn from(cause: StoreError) -> Self {
        match store_failed(&cause) {
            StatusCode::SERVICE_UNAVAILABLE => AdminCode::ServiceUnavailable.into(),
            _ => AdminCode::InternalError.into(),
        }
    }
}
