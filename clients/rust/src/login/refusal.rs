use axum::Json;
use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{AppendHeaders, IntoResponse, Response};
use serde_json::{Map, Value};

use super::cookies::no_token_cookies;
use crate::{Code, Error};

/// A refusal, or the report of a failure, in the format of Dwar's API.
#[derive(Clone, Debug)]
pub struct Refusal {
    status: StatusCode,
    code: String,
    message: String,
    retry_after: Option<u64>,
    request_id: Option<String>,
}

impl Refusal {
    /// For [`Login::with_admit`](super::Login::with_admit), such as 403 `CAPTCHA_REQUIRED` and a sentence for people.
    pub fn new(status: StatusCode, code: impl ToString, message: &str) -> Self {
        let (code, message) = (code.to_string(), message.to_owned());
        Self { status, code, message, retry_after: None, request_id: None }
    }

    pub(super) fn origin() -> Self {
        Self::new(StatusCode::FORBIDDEN, "ORIGIN_REFUSED", "This page may not log in here.")
    }

    pub(super) fn without_https() -> Self {
        let message =
            "Open this page with https to log in: without it the browser does not keep the login.";
        Self::new(StatusCode::FORBIDDEN, "HTTPS_REQUIRED", message)
    }

    pub(super) fn too_many_sends(seconds: u64) -> Self {
        let message = "Too many codes were requested from this address.";
        let refusal = Self::new(StatusCode::TOO_MANY_REQUESTS, "TOO_MANY_SENDS", message);
        Self { retry_after: Some(seconds), ..refusal }
    }

    pub(super) fn no_code() -> Self {
        let message = "There is no active code for this phone number.";
        Self::new(StatusCode::BAD_REQUEST, Code::OtpNotFound, message)
    }

    pub(super) fn no_session() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, Code::SessionExpired, "There is no session.")
    }

    /// Failures that the person can correct or has to know.
    pub(super) fn passed_on(error: &Error) -> Option<Self> {
        match (error.code(), error.status()) {
            (
                code @ (Code::InvalidPhone
                | Code::InvalidOtpCode
                | Code::InvalidOtp
                | Code::OtpNotFound
                | Code::OtpRateLimited
                | Code::ProofRequired
                | Code::VerifyRateLimited
                | Code::SessionExpired),
                Some(status),
            ) => {
                let status = StatusCode::from_u16(status).ok()?;
                Some(Self::new(status, code, error.message()).like(error))
            }
            // The client itself refused text that cannot be a phone number, as the service would.
            (code @ Code::InvalidPhone, None) => {
                let message = "The phone number is not a valid Indian mobile number.";
                Some(Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, message))
            }
            _ => None,
        }
    }

    pub(super) fn unavailable(error: &Error) -> Self {
        let message = "Login is not possible at the moment.";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "LOGIN_UNAVAILABLE", message).like(error)
    }

    fn like(self, error: &Error) -> Self {
        Self {
            retry_after: error.retry_after().map(|wait| wait.as_secs()),
            request_id: error.request_id().map(String::from),
            ..self
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let is_over = self.code == Code::SessionExpired.to_string();
        let mut body = Map::from_iter([
            ("error".to_owned(), Value::from(self.message)),
            ("code".to_owned(), self.code.into()),
        ]);
        body.extend(self.request_id.map(|id| ("request_id".to_owned(), id.into())));
        let wait = self.retry_after.map(|seconds| [(RETRY_AFTER, seconds.to_string())]);
        let cookies = is_over.then(|| AppendHeaders(no_token_cookies()));
        (self.status, wait, cookies, Json(Value::from(body))).into_response()
    }
}
