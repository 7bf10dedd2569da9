use crate::http_client::Answer;
use crate::language::for_language;
use crate::signature::sign;
use crate::{BaseUrl, HttpClient, Secret};
use async_trait::async_trait;
use dwar_otp::{
    Channel, Gateway, Message, Outcome, Reason, Receipt, ReceiptSource, Report, WebhookAdmission,
    WebhookCall, WebhookError, WebhookHead,
};
use hmac::Hmac;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::Sha256;
use std::collections::BTreeMap;
use subtle::ConstantTimeEq;

const PROVIDER: &str = "whatsapp_cloud";

/// Meta sends payloads of up to 3 MB:
/// <https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/overview/>.
const LONGEST_BODY: usize = 3 * 1_024 * 1_024;

/// What Meta's numeric `error.code` means, in an answer and in a receipt alike; `None` for those
/// that say nothing about the recipient, such as 100, 131008 and 131009: our request was wrong.
///
/// Titles and texts change, the numbers do not:
/// <https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes>.
const fn reason_of(code: i64) -> Option<Reason> {
    Some(match code {
        // No account, an old client, or the terms are not accepted: Meta does not tell which.
        131_026 => Reason::NotOnChannel,
        // The sender itself; not on a test number's list of recipients.
        131_021 | 131_030 => Reason::RejectedNumber,
        // Part of an experiment; withheld for a healthy ecosystem; opted out.
        130_472 | 131_049 | 131_050 => Reason::Blocked,
        // Absent, paused, disabled, against policy, or with other parameters.
        132_000..=132_999 => Reason::TemplateRejected,
        // Calls of the app, of the account, throughput, spam, sender and recipient, registration.
        4 | 80_007 | 130_429 | 131_048 | 131_056 | 133_016 => Reason::ProviderThrottled,
        // Unknown and temporary errors on their side; maintenance of the account.
        1 | 2 | 131_000 | 131_016 | 131_057 | 133_004 => Reason::ProviderUnavailable,
        // Token and permissions.
        0 | 3 | 5..=99 | 190 | 200..=299 | 131_005 => Reason::ProviderAuth,
        // The account: restricted, not for this country, locked, unpaid, its sender not registered.
        368 | 130_497 | 131_031 | 131_037 | 131_042 | 131_045 | 133_010 => Reason::ProviderAuth,
        _ => return None,
    })
}

/// An approved authentication template.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhatsappTemplate {
    /// Its name: `verification_code`.
    pub name: String,
    /// Meta's code of its language and locale: `en_US`.
    pub language: String,
}

/// Our account with Meta: the section `[gateways.whatsapp_cloud]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhatsappCloudSettings {
    /// `https://graph.facebook.com`.
    pub base_url: BaseUrl,
    /// Of the Graph API: `v23.0`. Meta retires old ones.
    pub version: String,
    /// The id of the sending number; not the number itself.
    pub phone_number_id: String,
    /// Of a system user with the permission `whatsapp_business_messaging`. Empty: there is no
    /// account.
    pub access_token: Secret,
    /// Of the app; signs the calls to us. Without it none is believed.
    pub app_secret: Secret,
    /// The word agreed on in Meta's panel for the handshake. Without it none is answered.
    pub verify_token: Secret,
    /// By BCP 47 tag; a language that is not there takes `en`.
    ///
    /// A template's `message_send_ttl_seconds` should be the fallback window or less, so that
    /// WhatsApp drops a code that could arrive after the SMS.
    pub templates: BTreeMap<String, WhatsappTemplate>,
}

/// Sends codes over Meta's WhatsApp Cloud API, as authentication templates, and reads its receipts.
///
/// The code stands in the body and in the one-time-password button, which Meta stores as a URL
/// button at index 0. Success means that Meta took the message, no more. Sources: `TemplateMessage`
/// of `business-messaging-api_v23.0.yaml` in <https://github.com/facebook/openapi>,
/// <https://developers.facebook.com/documentation/business-messaging/whatsapp/templates/authentication-templates/copy-code-button-authentication-templates/>.
pub struct WhatsappCloudGateway {
    settings: WhatsappCloudSettings,
    client: HttpClient,
    url: String,
}

impl WhatsappCloudGateway {
    /// A gateway for this account.
    pub fn new(settings: WhatsappCloudSettings, client: HttpClient) -> Self {
        let WhatsappCloudSettings { base_url, version, phone_number_id, .. } = &settings;
        let url = format!("{base_url}/{version}/{phone_number_id}/messages");
        Self { settings, client, url }
    }

    /// Whether it is about our number: Meta reports on every number of an account to every app
    /// that is subscribed to it.
    fn is_ours(&self, value: &Value) -> bool {
        let number = value.pointer("/metadata/phone_number_id").and_then(Value::as_str);
        number == Some(self.settings.phone_number_id.as_str())
    }

    /// Meta's signature is over the raw bytes; it escapes non-ASCII text before it signs, so a body
    /// that was parsed and written again would not match.
    fn authenticate(&self, call: &WebhookCall) -> Result<(), WebhookError> {
        let given = claimed(&call.head)?;
        let made = sign::<Hmac<Sha256>>(&self.settings.app_secret, &[&call.body]);
        match made {
            Some(made) if made.ct_eq(&given).into() => Ok(()),
            _ => Err(WebhookError::Unauthenticated),
        }
    }
}

/// The signature that a call claims to have: 64 lower-case hexadecimal digits.
fn claimed(head: &WebhookHead) -> Result<[u8; 32], WebhookError> {
    let given = head.header("x-hub-signature-256").and_then(|all| all.strip_prefix("sha256="));
    let mut signature = [0; 32];
    match base16ct::lower::decode(given.unwrap_or_default(), &mut signature) {
        Ok(read) if read.len() == 32 => Ok(signature),
        _ => Err(WebhookError::Unauthenticated),
    }
}

#[async_trait]
impl Gateway for WhatsappCloudGateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        if message.channel != Channel::Whatsapp {
            tracing::error!(provider = PROVIDER, "routed a message that is not for WhatsApp");
            return Outcome::Refused(Reason::ProviderUnavailable);
        }
        let Some(template) = for_language(&self.settings.templates, &message.language) else {
            tracing::error!(provider = PROVIDER, "no template for the language, and none for en");
            return Outcome::Refused(Reason::TemplateRejected);
        };
        let request = self
            .client
            .post(&self.url)
            .bearer_auth(self.settings.access_token.expose())
            .json(&request_body(&message, template));
        match self.client.send(PROVIDER, request).await {
            Ok(answer) => outcome(&answer),
            Err(reason) => Outcome::Refused(reason),
        }
    }
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
            // The only policy there is; the schema asks for it.
            "language": { "policy": "deterministic", "code": template.language },
            "components": [
                { "type": "body", "parameters": code },
                { "type": "button", "sub_type": "url", "index": "0", "parameters": code },
            ],
        },
    })
}

#[derive(Deserialize)]
struct Accepted {
    messages: Vec<MessageId>,
}

#[derive(Deserialize)]
struct MessageId {
    id: String,
}

#[derive(Deserialize)]
struct Refused {
    error: VendorError,
}

#[derive(Deserialize)]
struct VendorError {
    code: i64,
}

fn outcome(answer: &Answer) -> Outcome {
    let accepted = answer.json::<Accepted>().filter(|_| answer.is_success());
    let id = accepted.and_then(|accepted| accepted.messages.into_iter().next());
    if let Some(MessageId { id }) = id.filter(|message| !message.id.is_empty()) {
        return Outcome::Accepted { provider_ref: Some(id), awaits_receipt: true };
    }
    let code = answer.json::<Refused>().map(|refused| refused.error.code);
    let reason = code.and_then(reason_of).unwrap_or_else(|| answer.reason());
    answer.log_refusal(PROVIDER, code, reason);
    Outcome::Refused(reason)
}

#[derive(Deserialize)]
struct Notification {
    entry: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    changes: Vec<Change>,
}

#[derive(Deserialize)]
struct Change {
    field: String,
    value: Value,
}

#[derive(Deserialize)]
struct Status {
    id: String,
    status: String,
    #[serde(default)]
    errors: Value,
}

/// Statuses come several to a call, twice, and in any order; source:
/// <https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/status/>.
impl ReceiptSource for WhatsappCloudGateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        claimed(head)?;
        Ok(WebhookAdmission { longest_body: LONGEST_BODY, proven: false })
    }

    fn receipts(&self, call: &WebhookCall) -> Result<Vec<Receipt>, WebhookError> {
        self.authenticate(call)?;
        let notification: Notification =
            serde_json::from_slice(&call.body).map_err(|_| WebhookError::Unreadable)?;
        let changes = notification.entry.into_iter().flat_map(|entry| entry.changes);
        let statuses = changes
            .filter(|change| change.field == "messages" && self.is_ours(&change.value))
            .filter_map(|mut change| change.value.get_mut("statuses").map(Value::take))
            .filter_map(|statuses| serde_json::from_value::<Vec<Value>>(statuses).ok())
            .flatten();
        // One that cannot be read must not cost the others of its call.
        let readable = statuses.filter_map(|status| serde_json::from_value::<Status>(status).ok());
        Ok(readable.filter_map(receipt).collect())
    }

    fn handshake(&self, head: &WebhookHead) -> Result<String, WebhookError> {
        let token = head.parameter("hub.verify_token").unwrap_or_default();
        if !self.settings.verify_token.matches(token) {
            return Err(WebhookError::Unauthenticated);
        }
        match (head.parameter("hub.mode"), head.parameter("hub.challenge")) {
            (Some("subscribe"), Some(challenge)) => Ok(challenge.to_owned()),
            _ => Err(WebhookError::Unreadable),
        }
    }
}

fn receipt(status: Status) -> Option<Receipt> {
    let report = match status.status.as_str() {
        // Where a message is read at once, or a voice message played, «delivered» is left out.
        "delivered" | "read" | "played" => Report::Delivered,
        "failed" => Report::Failed(failure(&status.errors)),
        // «sent» tells no more than the answer did; anything else, of which Meta adds now and
        // then, is no outcome.
        _ => return None,
    };
    Some(Receipt { provider: PROVIDER.to_owned(), provider_ref: status.id, report })
}

fn failure(errors: &Value) -> Reason {
    let code = errors.pointer("/0/code").and_then(Value::as_i64);
    let reason = code.and_then(reason_of).unwrap_or(Reason::Unknown);
    let word = reason.as_str();
    tracing::info!(provider = PROVIDER, code, reason = word, "a message was not delivered");
    reason
}

#[cfg(test)]
#[path = "whatsapp_cloud_tests.rs"]
mod tests;
