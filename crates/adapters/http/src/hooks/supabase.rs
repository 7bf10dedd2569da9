use super::object::Object;
use super::phone::international;
use super::standard_webhooks::{Signed, TOLERANCE};
use dwar_kernel::{Timestamp, WebhookSecret};
use dwar_otp::{Code, HookFault, HookFormat, HookMessage, HookRefusal, WebhookCall, WebhookHead};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// Supabase Auth, Send SMS hook
/// (<https://supabase.com/docs/guides/auth/auth-hooks/send-sms-hook>).
///
/// Supabase reads only a 200 and its `error`. It repeats a call with any other answer, with a new
/// `webhook-id` and the same body, up to three times in five seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Supabase;

/// The parts of a payload that are read. The rest, about the user, is ignored.
#[derive(Deserialize)]
struct Payload {
    user: Object<User>,
    sms: Object<Sms>,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    phone: Option<String>,
}

#[derive(Deserialize)]
struct Sms {
    otp: String,
    /// The destination of the code if the user changes numbers; older versions omit it.
    #[serde(default)]
    phone: Option<String>,
    /// The purpose of the code; `"mfa"` or absent (supabase/auth, `internal/api/mfa.go`).
    #[serde(default)]
    sms_type: Option<String>,
}

/// The `sms_type` of a second factor's code.
const MFA: &str = "mfa";

impl HookFormat for Supabase {
    fn fits(&self, head: &WebhookHead, now: Timestamp) -> Result<(), HookFault> {
        Signed::read(head, now).map(|_| ())
    }

    fn shows(&self, _: &[WebhookSecret], _: &WebhookHead) -> Option<bool> {
        None
    }

    fn proves(&self, secrets: &[WebhookSecret], call: &WebhookCall, now: Timestamp) -> bool {
        let signed = Signed::read(&call.head, now);
        signed.is_ok_and(|signed| signed.by(secrets, &call.body))
    }

    fn read(&self, body: &[u8]) -> Result<HookMessage, HookRefusal> {
        let Object(Payload { user: Object(user), sms: Object(sms) }) =
            serde_json::from_slice(body).map_err(|_| HookRefusal::Unreadable)?;
        let mut named = [sms.phone, user.phone].into_iter().flatten();
        let phone = named.find(|phone| !phone.is_empty());
        let phone = phone.and_then(|phone| international(&phone));
        let phone = phone.ok_or(HookRefusal::InvalidPhone)?;
        let code = Code::relayed(&sms.otp).map_err(|_| HookRefusal::InvalidCode)?;
        Ok(HookMessage { phone, code, is_mfa: sms.sms_type.as_deref() == Some(MFA) })
    }

    /// As long as a signature is valid: from five minutes before its timestamp to five minutes
    /// after.
    fn repeat_window(&self) -> Duration {
        TOLERANCE * 2
    }

    fn answer(&self, outcome: Result<(), HookRefusal>) -> Option<String> {
        let body = match outcome.map_err(words_of) {
            Ok(()) => json!({}),
            Err((status, message)) => {
                json!({ "error": { "http_code": status, "message": message } })
            }
        };
        Some(body.to_string())
    }
}

/// The message for the person who waits for the code, and the status that the client of Supabase
/// sees.
const fn words_of(refusal: HookRefusal) -> (u16, &'static str) {
    match refusal {
        HookRefusal::TooLarge => {
            (413, "Your account holds too much data for a code to be sent. Contact support.")
        }
        HookRefusal::Unreadable => (400, "The request cannot be read."),
        HookRefusal::InvalidPhone => (422, "The phone number is not a valid Indian mobile number."),
        HookRefusal::InvalidCode => (422, "The code is not 4 to 10 digits."),
        HookRefusal::PhoneLimited => {
            (429, "Too many codes were requested for this phone number. Try again later.")
        }
        HookRefusal::ProjectLimited => {
            (429, "Too many codes are requested at the moment. Try again in a minute.")
        }
        HookRefusal::Undelivered => (500, "The code could not be delivered to this phone number."),
        HookRefusal::InsufficientBalance
        | HookRefusal::SpendLimitReached
        | HookRefusal::Unavailable => (503, "Codes cannot be sent at the moment. Try again later."),
    }
}

#[cfg(test)]
#[path = "supabase_tests.rs"]
mod tests;
