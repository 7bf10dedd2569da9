use super::{id, instant};
use dwar_activity::Cause;
use dwar_console::RequestLine;
use serde::Serialize;
use utoipa::ToSchema;

/// A request for a code.
#[derive(Serialize, ToSchema)]
pub struct Request {
    /// `otp_id` of the public API.
    #[schema(format = "uuid")]
    pub request_id: String,
    /// `live` or `test`.
    pub mode: String,
    #[schema(format = "date-time")]
    pub at: String,
    /// Masked; null if it cannot be decrypted.
    pub phone: Option<String>,
    /// `queued`, `sent`, `delivered` or `failed`.
    pub status: String,
    /// `active`, `locked`, `used`, `superseded`, `void` or `relayed`.
    pub state: String,
    /// Why the last failed message failed, even if another one arrived; `no_provider` if no
    /// provider was available, null if none failed.
    pub reason: Option<String>,
    /// Channel that delivered it or was tried last.
    pub channel: Option<String>,
    pub provider: Option<String>,
    pub charged_paise: i64,
}

impl Request {
    /// Serializes the request as one line of JSON.
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default() + "\n"
    }
}

impl From<&RequestLine> for Request {
    fn from(line: &RequestLine) -> Self {
        let (channel, provider) = line.carrier.clone().unzip();
        Self {
            request_id: id(line.otp),
            mode: id(line.mode),
            at: instant(line.at),
            phone: line.phone.as_ref().map(id),
            status: id(line.status),
            state: id(line.state),
            reason: line.cause().map(|cause| Cause::as_str(cause).to_owned()),
            channel: channel.map(id),
            provider,
            charged_paise: line.charged.0,
        }
    }
}
