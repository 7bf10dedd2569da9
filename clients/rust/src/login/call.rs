use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{AppendHeaders, IntoResponse, Response};
use serde_json::{Map, Value, json};

use super::cookies::{ACCESS, DEVICE, OTP, REFRESH, SetCookie, cookie, is_device, token_cookies};
use super::origins::is_loopback;
use super::refusal::Refusal;
use crate::{Code, Secret, Tokens};

const BODY_BYTES: usize = 16 * 1024;

/// The caller of an endpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Asker {
    /// A page of the application, which sends cookies.
    Page,
    /// An app, which sends the tokens in the body.
    App,
    /// A page of another site.
    Foreign,
}

impl Asker {
    pub fn of(headers: &HeaderMap, origins: &[String]) -> Self {
        let is_own = match (headers.get(ORIGIN), headers.get("sec-fetch-site")) {
            (None, None) => return Self::App,
            (Some(origin), _) => origins.iter().any(|own| own.as_bytes() == origin.as_bytes()),
            (None, Some(site)) => site == "same-origin",
        };
        if is_own { Self::Page } else { Self::Foreign }
    }
}

/// A request of a page or of an app.
pub struct Call {
    pub parts: Parts,
    pub body: Map<String, Value>,
    asker: Asker,
    tokens_in_body: bool,
}

impl Call {
    pub async fn read(request: Request, origins: &[String]) -> Result<Self, Refusal> {
        let (parts, body) = request.into_parts();
        let asker = Asker::of(&parts.headers, origins);
        if asker == Asker::Foreign {
            return Err(foreign(&parts.headers));
        }
        let body = object(&parts.headers, body).await?;
        let tokens_in_body = text(&body, "tokens") == "body";
        // No script of a page may read a token.
        if tokens_in_body && asker == Asker::Page {
            return Err(Refusal::origin());
        }
        Ok(Self { parts, body, asker, tokens_in_body })
    }

    /// A field that is absent or not a text counts as empty, which the service refuses with the
    /// code of that field.
    pub fn text(&self, name: &str) -> &str {
        text(&self.body, name)
    }

    pub fn otp_id(&self) -> Option<&str> {
        self.credential(OTP, "otp_id")
    }

    pub fn access_token(&self) -> Option<&str> {
        self.credential(ACCESS, "access_token")
    }

    pub fn refresh_token(&self) -> Option<&str> {
        self.credential(REFRESH, "refresh_token")
    }

    /// Of an earlier login of this browser or app.
    pub fn device(&self) -> Option<&str> {
        self.credential(DEVICE, "device").filter(|device| is_device(device))
    }

    fn credential(&self, cookie_name: &str, field: &str) -> Option<&str> {
        match self.asker {
            Asker::App => Some(self.text(field)).filter(|text| !text.is_empty()),
            _ => cookie(&self.parts.headers, cookie_name),
        }
    }

    pub fn logged_in(&self, tokens: &Tokens, more_cookies: Vec<SetCookie>) -> Response {
        let Tokens { identity_id, expires_in, refresh_expires_in, .. } = tokens;
        let mut body = json!({ "identity_id": identity_id, "expires_in": expires_in });
        if self.tokens_in_body {
            body["access_token"] = tokens.access_token.reveal().into();
            body["refresh_token"] = tokens.refresh_token.reveal().into();
            body["refresh_expires_in"] = (*refresh_expires_in).into();
            let device = tokens.device.as_ref().map(Secret::reveal);
            if let Some(device) = device.filter(|device| is_device(device)) {
                body["device"] = device.into();
            }
            return Json(body).into_response();
        }
        let mut cookies = token_cookies(tokens);
        cookies.extend(more_cookies);
        (AppendHeaders(cookies), Json(body)).into_response()
    }
}

/// Refuses a page of another site. The message to an own page that was opened without https says
/// why it cannot log in.
fn foreign(headers: &HeaderMap) -> Refusal {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let host = text(HOST);
    match text(ORIGIN).strip_prefix("http://") {
        Some(own) if own == host && !is_loopback(host) => Refusal::without_https(),
        _ => Refusal::origin(),
    }
}

async fn object(headers: &HeaderMap, body: Body) -> Result<Map<String, Value>, Refusal> {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Refusal::new(status, Code::UnsupportedMediaType, "The body must be JSON."));
    }
    let bytes = to_bytes(body, BODY_BYTES).await.map_err(|_| {
        let status = StatusCode::PAYLOAD_TOO_LARGE;
        Refusal::new(status, Code::PayloadTooLarge, "The body is too large.")
    })?;
    serde_json::from_slice(&bytes).map_err(|_| {
        let message = "The request cannot be read.";
        Refusal::new(StatusCode::BAD_REQUEST, Code::InvalidRequest, message)
    })
}

fn text<'a>(body: &'a Map<String, Value>, name: &str) -> &'a str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}
