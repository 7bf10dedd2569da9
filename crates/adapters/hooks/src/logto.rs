use crate::phone::international;
use dwar_kernel::{Phone, Timestamp, WebhookSecret};
use dwar_otp::{Code, HookFormat, HookRefusal, WebhookCall};
use dwar_project::HookKind;
use serde::Deserialize;
use std::time::Duration;
use subtle::ConstantTimeEq;

/// Logto, HTTP SMS connector (<https://docs.logto.io/integrations/http-sms>).
///
/// It shows the value of its setting «Authorization Header», reads the status of an answer, and does not repeat a call.
#[derive(Clone, Copy, Debug)]
pub struct Logto;

#[derive(Deserialize)]
struct Call {
    to: String,
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    code: String,
}

impl HookFormat for Logto {
    fn proves(&self, secrets: &[WebhookSecret], call: &WebhookCall, _: Timestamp) -> bool {
        let shown = call.head.header("authorization").unwrap_or_default().as_bytes();
        let equals = |secret| HookKind::Logto.shown(secret).as_bytes().ct_eq(shown);
        secrets.iter().any(|secret| bool::from(equals(secret)))
    }

    fn read(&self, body: &[u8]) -> Result<(Phone, Code), HookRefusal> {
        let call: Call = serde_json::from_slice(body).map_err(|_| HookRefusal::Unreadable)?;
        let phone = international(&call.to).ok_or(HookRefusal::InvalidPhone)?;
        let code = Code::relayed(&call.payload.code).map_err(|_| HookRefusal::InvalidCode)?;
        Ok((phone, code))
    }

    /// Long enough for whatever stands between the two to repeat a call. Its test message always has the same code,
    /// and somebody who tries it again a minute later wants to see it arrive.
    fn repeats_for(&self) -> Duration {
        Duration::from_secs(60)
    }

    fn answer(&self, outcome: Result<(), HookRefusal>) -> Option<String> {
        outcome.ok().map(|()| "{}".to_owned())
    }
}

#[cfg(test)]
#[path = "logto_tests.rs"]
mod tests;
