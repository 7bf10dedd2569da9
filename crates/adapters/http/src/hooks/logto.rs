use super::object::Object;
use super::phone::international;
use dwar_kernel::{Timestamp, WebhookSecret};
use dwar_otp::{Code, HookFault, HookFormat, HookMessage, HookRefusal, WebhookCall, WebhookHead};
use dwar_project::HookKind;
use serde::Deserialize;
use std::time::Duration;
use subtle::ConstantTimeEq;

/// Logto, HTTP SMS connector (<https://docs.logto.io/integrations/http-sms>).
///
/// Logto sends the value of its setting «Authorization Header», reads only the status of an answer,
/// and does not repeat a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Logto;

#[derive(Deserialize)]
struct Call {
    to: String,
    payload: Object<Payload>,
}

#[derive(Deserialize)]
struct Payload {
    code: String,
}

impl HookFormat for Logto {
    fn fits(&self, head: &WebhookHead, _: Timestamp) -> Result<(), HookFault> {
        let shown = head.header("authorization").and_then(|shown| shown.strip_prefix("Bearer "));
        let secret = shown.and_then(|secret| secret.parse::<WebhookSecret>().ok());
        secret.map(|_| ()).ok_or(HookFault::Shape)
    }

    fn shows(&self, secrets: &[WebhookSecret], head: &WebhookHead) -> Option<bool> {
        let shown = head.header("authorization").unwrap_or_default().as_bytes();
        let equals = |secret| HookKind::Logto.shown(secret).as_bytes().ct_eq(shown);
        Some(secrets.iter().any(|secret| bool::from(equals(secret))))
    }

    fn proves(&self, secrets: &[WebhookSecret], call: &WebhookCall, _: Timestamp) -> bool {
        self.shows(secrets, &call.head) == Some(true)
    }

    fn read(&self, body: &[u8]) -> Result<HookMessage, HookRefusal> {
        let Object(call) =
            serde_json::from_slice::<Object<Call>>(body).map_err(|_| HookRefusal::Unreadable)?;
        let phone = international(&call.to).ok_or(HookRefusal::InvalidPhone)?;
        let code = Code::relayed(&call.payload.0.code).map_err(|_| HookRefusal::InvalidCode)?;
        Ok(HookMessage { phone, code, is_mfa: false })
    }

    /// Long enough for intermediaries that repeat a call. Logto's test message always has the same
    /// code, and a person who tests again a minute later expects another message.
    fn repeat_window(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn answer(&self, outcome: Result<(), HookRefusal>) -> Option<String> {
        outcome.ok().map(|()| "{}".to_owned())
    }
}

#[cfg(test)]
#[path = "logto_tests.rs"]
mod tests;
