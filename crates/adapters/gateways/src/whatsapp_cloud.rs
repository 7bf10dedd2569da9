use crate::http_client::Answer;
use crate::language::for_language;
use crate::signature::{claimed_hex, is_signed};
use crate::vendor::{Entry, MismatchedEntry, Vendor, reports_of, undelivered};
use crate::wire::word_at;
use crate::{BaseUrl, HttpClient, Secret};
use dwar_otp::{
    Channel, Message, Reason, Report, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use hmac::Hmac;
use reqwest::RequestBuilder;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;
use std::collections::BTreeMap;

const PROVIDER: &str = "whatsapp_cloud";

/// Meta sends payloads of up to 3 MB:
/// <https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/overview/>.
const LONGEST_BODY: usize = 3 * 1_024 * 1_024;

/// The meaning of Meta's numeric `error.code`, in answers and receipts; `None` for codes that say
/// nothing about the recipient, such as 100, 131008 and 131009: our request was wrong.
///
/// Titles and texts change, the numbers do not:
/// <https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes>.
pub(crate) const fn reason_of(code: i64) -> Option<Reason> {
    Some(match code {
        // No account, an old client, or the terms are not accepted: Meta does not say which.
        131_026 => Reason::NotOnChannel,
        // The sender itself; not on a test number's list of recipients; too many messages to this
        // recipient, while others get theirs.
        131_021 | 131_030 | 131_056 => Reason::RejectedNumber,
        // Part of an experiment; withheld for a healthy ecosystem; opted out.
        130_472 | 131_049 | 131_050 => Reason::Blocked,
        // Absent, paused, disabled, against policy, or with other parameters.
        132_000..=132_999 => Reason::TemplateRejected,
        // Limits of calls of the app, of the account, throughput, spam, registration.
        4 | 80_007 | 130_429 | 131_048 | 133_016 => Reason::ProviderThrottled,
        // Unknown and temporary errors on their side; maintenance of the account.
        1 | 2 | 131_000 | 131_016 | 131_057 | 133_004 => Reason::ProviderUnavailable,
        // Token and permissions.
        0 | 3 | 5..=99 | 190 | 200..=299 | 131_005 => Reason::ProviderAuth,
        // The account: restricted, not for this country, locked, unpaid, its sender not registered.
        368 | 130_497 | 131_031 | 131_037 | 131_042 | 131_045 | 133_010 => Reason::ProviderAuth,
        _ => return None,
    })
}

/// An approved authentication template of Meta, by name and language.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhatsappTemplate {
    /// Its name: `verification_code`.
    pub name: String,
    /// Meta's code of its language and locale: `en_US`.
    pub language: String,
}

/// Our account with Meta's WhatsApp Cloud API: the section `[gateways.whatsapp_cloud]`.
///
/// Codes are sent as authentication templates: the code is in the body and in the one-time-password
/// button, which Meta stores as a URL button at index 0. Success means only that Meta accepted the
/// message. Sources: `TemplateMessage` of `business-messaging-api_v23.0.yaml` in
/// <https://github.com/facebook/openapi>,
/// <https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/authentication-templates/copy-code-button-authentication-templates/>.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhatsappCloud {
    /// `https://graph.facebook.com/v23.0`; Meta retires old versions.
    pub base_url: BaseUrl,
    /// The id of the sending number; not the number itself.
    pub phone_number_id: String,
    /// Of a system user with the permission `whatsapp_business_messaging`. Empty if there is no
    /// account.
    pub access_token: Secret,
    /// Of the app; signs the calls to us. Without it no call is accepted.
    pub app_secret: Secret,
    /// The word entered in Meta's panel for the handshake. Without it no handshake is answered.
    pub verify_token: Secret,
    /// By BCP 47 tag; languages without one use `en`.
    ///
    /// A template's `message_send_ttl_seconds` should be the fallback window or less, so that
    /// WhatsApp drops a code that could arrive after the SMS.
    pub templates: BTreeMap<String, WhatsappTemplate>,
}

/// The signature in a call: 64 lower-case hexadecimal digits.
fn claimed(head: &WebhookHead) -> Option<[u8; 32]> {
    claimed_hex(head.header("x-hub-signature-256")?.strip_prefix("sha256=")?)
}

fn request_body(message: &Message, template: &WhatsappTemplate) -> Value {
    let code = json!([{ "type": "text", "text": message.code.expose() }]);
    json!({
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": message.phone.e164(),
        "type": "template",
        "template": {
            "name": template.name,
            // The only policy that exists; the schema requires it.
            "language": { "policy": "deterministic", "code": template.language },
            "components": [
                { "type": "body", "parameters": code },
                { "type": "button", "sub_type": "url", "index": "0", "parameters": code },
            ],
        },
    })
}

#[derive(Deserialize)]
struct Notification {
    entry: Vec<Value>,
}

impl WhatsappCloud {
    /// The reports of one entry of a notification.
    fn of_entry(&self, entry: &Value) -> Vec<Entry> {
        match entry.get("changes") {
            Some(Value::Array(changes)) => {
                changes.iter().flat_map(|it| self.of_change(it)).collect()
            }
            _ => vec![Err(MismatchedEntry)],
        }
    }

    fn of_change(&self, change: &Value) -> Vec<Entry> {
        let field = change.get("field").and_then(Value::as_str);
        let (Some(field), Some(value)) = (field, change.get("value")) else {
            return vec![Err(MismatchedEntry)];
        };
        // Meta reports on every number of an account to every app that is subscribed to the
        // account.
        let number = value.pointer("/metadata/phone_number_id").and_then(Value::as_str);
        let is_ours = field == "messages" && number == Some(self.phone_number_id.as_str());
        match value.get("statuses").filter(|_| is_ours) {
            None => vec![Ok(None)],
            Some(Value::Array(statuses)) => statuses.iter().map(report).collect(),
            Some(_) => vec![Err(MismatchedEntry)],
        }
    }
}

impl Vendor for WhatsappCloud {
    fn name(&self) -> &str {
        PROVIDER
    }

    fn address(&self) -> Option<&str> {
        Some(self.base_url.as_str())
    }

    fn call(&self, client: &HttpClient, message: &Message) -> Result<RequestBuilder, Reason> {
        if message.channel != Channel::Whatsapp {
            tracing::error!(provider = PROVIDER, "routed a message that is not for WhatsApp");
            return Err(Reason::ProviderUnavailable);
        }
        let Some(template) = for_language(&self.templates, &message.language) else {
            tracing::error!(provider = PROVIDER, "no template for the language, and none for en");
            return Err(Reason::TemplateRejected);
        };
        let Self { base_url, phone_number_id, .. } = self;
        let call = client.post(&format!("{base_url}/{phone_number_id}/messages"));
        Ok(call.bearer_auth(self.access_token.expose()).json(&request_body(message, template)))
    }

    fn judge(&self, _: Channel, answer: &Answer) -> Result<Option<String>, Reason> {
        let id = answer.body.pointer("/messages/0/id").and_then(Value::as_str);
        if let Some(id) = id.filter(|id| answer.status.is_success() && !id.is_empty()) {
            return Ok(Some(id.to_owned()));
        }
        let code = answer.body.pointer("/error/code").and_then(Value::as_i64);
        Err(answer.refused(PROVIDER, code, code.and_then(reason_of)))
    }

    fn reports(&self) -> bool {
        true
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        claimed(head).ok_or(WebhookError::Unauthenticated)?;
        Ok(WebhookAdmission { longest_body: LONGEST_BODY, proven: false })
    }

    /// Over the raw bytes: Meta escapes non-ASCII text before it signs, so a body that was parsed
    /// and serialized again would not match.
    fn is_signed(&self, call: &WebhookCall) -> bool {
        claimed(&call.head)
            .is_some_and(|given| is_signed::<Hmac<Sha256>>(&self.app_secret, &[&call.body], &given))
    }

    /// A call may contain several statuses, which may be repeated and come in any order; source:
    /// <https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status/>.
    fn read(&self, call: &WebhookCall) -> Option<Vec<(String, Report)>> {
        let notification: Notification = serde_json::from_slice(&call.body).ok()?;
        reports_of(PROVIDER, notification.entry.iter().flat_map(|entry| self.of_entry(entry)))
    }

    fn handshake(&self, head: &WebhookHead) -> Result<String, WebhookError> {
        let token = head.parameter("hub.verify_token").unwrap_or_default();
        if !self.verify_token.matches(token) {
            return Err(WebhookError::Unauthenticated);
        }
        match (head.parameter("hub.mode"), head.parameter("hub.challenge")) {
            (Some("subscribe"), Some(challenge)) => Ok(challenge.to_owned()),
            _ => Err(WebhookError::Unreadable),
        }
    }
}

fn report(status: &Value) -> Entry {
    let text = |name: &str| status.get(name).and_then(Value::as_str).ok_or(MismatchedEntry);
    let (id, word) = (text("id")?.to_owned(), text("status")?);
    Ok(match word {
        // If a message is read at once, or a voice message is played, «delivered» is omitted.
        "delivered" | "read" | "played" => Some((id, Report::Delivered)),
        "failed" => {
            let code = word_at(status, "/errors/0/code").and_then(|code| code.parse().ok());
            Some((id, undelivered(PROVIDER, code, code.and_then(reason_of))))
        }
        // «sent» adds nothing to the answer. Anything else, such as statuses that Meta adds, is not
        // an outcome.
        _ => None,
    })
}

#[cfg(test)]
#[path = "whatsapp_cloud_tests.rs"]
mod tests;
