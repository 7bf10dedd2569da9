//! Gupshup Enterprise SMS (GatewayAPI).
//!
//! Gupshup is supported and AWS End User Messaging is not, because public code of Indian services
//! that send OTPs often calls Gupshup, and notification platforms (Novu, SuprSend) ship it as an
//! SMS provider with its DLT parameters. AWS would also require its own request signing.
//!
//! Pages: `docs.gupshup.io/docs/send-message-to-single-number` (parameters),
//! `docs.gupshup.io/docs/error-codes` (errors), `docs.gupshup.io/docs/real-time-delivery-reports`
//! (receipts); the causes of failed deliveries are listed in SuprSend's manual
//! (`docs.suprsend.com/docs/gupshup-sms-errors`).

use crate::http_client::Answer;
use crate::vendor::{Entry, MismatchedEntry, Vendor, reports_of};
use crate::webhook_token::admit;
use crate::wire::{form_field, word, word_at};
use crate::{BaseUrl, HttpClient, Secret};
use dwar_otp::{
    Channel, Message, Reason, Report, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use reqwest::RequestBuilder;
use serde::Deserialize;
use serde_json::Value;
use serde_with::{As, NoneAsEmptyString};

const PROVIDER: &str = "gupshup";

/// At most 20 reports per call (`docs.gupshup.io/docs/real-time-delivery-reports`), each well under
/// 1 KiB of JSON, at worst encoded as a form.
const LONGEST_BODY: usize = 64 * 1_024;

/// An Enterprise SMS account at Gupshup and its DLT registration: the section `[gateways.gupshup]`.
/// It only sends SMS.
///
/// The text is sent unchanged and must equal the registered template outside of its variables. The
/// API answers refusals with HTTP 200 and signs nothing, so callbacks are authenticated by a shared
/// secret.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gupshup {
    /// The API's host: `https://enterprise.smsgupshup.com`.
    pub base_url: BaseUrl,
    pub user_id: String,
    /// The account's password. Empty if there is no account.
    pub password: Secret,
    /// The registered header (sender id, «mask»); `None` uses the account's own.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub sender: Option<String>,
    pub entity_id: String,
    /// The DLT content template id of the default text; a project's own overrides it.
    pub template_id: String,
    /// The secret of its callbacks: the address entered in its panel ends in `?token=…`. If empty,
    /// no callback is set up and no receipt is expected.
    pub webhook_token: Secret,
}

impl Gupshup {
    fn form(&self, message: &Message) -> Vec<(&'static str, String)> {
        let template = message.template_id.as_ref().unwrap_or(&self.template_id);
        let kind = if message.text.is_ascii() { "TEXT" } else { "Unicode_Text" };
        let mut form = vec![
            ("method", "SendMessage".to_owned()),
            ("v", "1.1".to_owned()),
            ("format", "json".to_owned()),
            ("auth_scheme", "plain".to_owned()),
            ("userid", self.user_id.clone()),
            ("password", self.password.expose().to_owned()),
            ("send_to", format!("91{}", message.phone.national())),
            ("msg", message.text.clone()),
            ("msg_type", kind.to_owned()),
            ("principalEntityId", self.entity_id.clone()),
            ("dltTemplateId", template.clone()),
        ];
        form.extend(self.sender.clone().map(|sender| ("mask", sender)));
        form
    }
}

impl Vendor for Gupshup {
    fn name(&self) -> &str {
        PROVIDER
    }

    fn address(&self) -> Option<&str> {
        Some(self.base_url.as_str())
    }

    fn call(&self, client: &HttpClient, message: &Message) -> Result<RequestBuilder, Reason> {
        if message.channel != Channel::Sms {
            tracing::warn!(provider = PROVIDER, otp = %message.otp, "it only sends SMS");
            return Err(Reason::ProviderUnavailable);
        }
        // A form and not the query that the page shows, because addresses end up in logs on the
        // way.
        let url = format!("{}/GatewayAPI/rest", self.base_url);
        Ok(client.post(&url).form(&self.form(message)))
    }

    fn judge(&self, _: Channel, answer: &Answer) -> Result<Option<String>, Reason> {
        let (status, id) = verdict(&answer.body).unwrap_or_default();
        if status == "success" && answer.status.is_success() {
            return Ok(id);
        }
        let refused = status == "error";
        let code = id.filter(|_| refused).and_then(|id| id.parse().ok());
        let refusal = || refused.then(|| answer.refusal());
        Err(answer.refused(PROVIDER, code, code.and_then(reason).or_else(refusal)))
    }

    fn reports(&self) -> bool {
        !self.webhook_token.is_empty()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        admit(head, &self.webhook_token, LONGEST_BODY)
    }

    /// Reads both kinds of callback: one report in the query of a `GET` (the default), or up to 20
    /// in the JSON array of a `POST`, either as the body or as the form field or member `response`.
    fn read(&self, call: &WebhookCall) -> Option<Vec<(String, Report)>> {
        if call.body.is_empty() {
            let field = |name: &str| call.head.parameter(name).map(str::to_owned);
            return reports_of(PROVIDER, [report(field)]);
        }
        let events = events(&call.body)?;
        reports_of(PROVIDER, events.iter().map(|event| report(|name| word(event.get(name)?))))
    }
}

/// The status in lower case, and the message's id (`success`) or the error code (`error`).
///
/// Reads `{"response": {"status", "id", …}}` and, if the API ignores the requested format, the
/// `status | … | …` of its text format.
fn verdict(body: &Value) -> Option<(String, Option<String>)> {
    let Value::String(text) = body else {
        let status = word_at(body, "/response/status")?;
        return Some((status.to_ascii_lowercase(), word_at(body, "/response/id")));
    };
    let mut parts = text.trim().split('|').map(|part| part.trim().to_owned());
    let (status, second, third) = (parts.next()?.to_ascii_lowercase(), parts.next(), parts.next());
    let id = if status == "success" { third } else { second };
    Some((status, id.filter(|id| !id.is_empty())))
}

const fn reason(code: i64) -> Option<Reason> {
    match code {
        // Wrong user or password, unknown user, user disabled.
        102..=104 => Some(Reason::ProviderAuth),
        // Invalid phone number.
        105 => Some(Reason::RejectedNumber),
        // Invalid mask: the sender is part of the registration.
        108 => Some(Reason::TemplateRejected),
        _ => None,
    }
}

fn events(body: &[u8]) -> Option<Vec<Value>> {
    let document: Option<Value> = serde_json::from_slice(body).ok();
    match document.or_else(|| serde_json::from_str(&form_field(body, "response")?).ok())? {
        Value::Array(events) => Some(events),
        Value::Object(mut object) => match object.remove("response") {
            Some(Value::Array(events)) => Some(events),
            _ => None,
        },
        _ => None,
    }
}

fn report(field: impl Fn(&str) -> Option<String>) -> Entry {
    let provider_ref = field("externalId").ok_or(MismatchedEntry)?;
    let status = field("status").or_else(|| field("eventType")).ok_or(MismatchedEntry)?;
    let report = match status.to_ascii_uppercase().as_str() {
        "SUCCESS" | "DELIVERED" => Report::Delivered,
        "FAIL" | "FAILED" | "FAILURE" | "UNDELIVERED" => {
            let why = [field("cause"), field("errCode")];
            let reason = why.into_iter().flatten().find_map(|why| cause(&why));
            Report::Failed(reason.unwrap_or(Reason::Unknown))
        }
        _ => return Ok(None),
    };
    Ok(Some((provider_ref, report)))
}

/// The meaning of the cause of a failed delivery, or of its code.
fn cause(why: &str) -> Option<Reason> {
    match why.to_ascii_uppercase().as_str() {
        "ABSENT_SUBSCRIBER" | "001" => Some(Reason::Unknown),
        "UNKNOWN_SUBSCRIBER" | "003" => Some(Reason::RejectedNumber),
        // The sender is blocked, not the recipient.
        "BLOCKED_MASK" => Some(Reason::TemplateRejected),
        "CALL_BARRED" | "002" | "DND_FAIL" | "006" | "BLOCKED" | "007" => Some(Reason::Blocked),
        "DND_TIMEOUT" | "008" | "OUTSIDE_WORKING_HOURS" | "009" => Some(Reason::Blocked),
        "SERVICE_DOWN" | "004" | "SYSTEM_FAILURE" | "005" => Some(Reason::ProviderUnavailable),
        _ => None,
    }
}

#[cfg(test)]
#[path = "gupshup_tests.rs"]
mod tests;
