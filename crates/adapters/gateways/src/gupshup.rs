//! Gupshup Enterprise SMS (GatewayAPI).
//!
//! It is here, and AWS End User Messaging is not, because public code of Indian services that sends
//! OTPs was seen to call it again and again, and notification platforms (Novu, SuprSend) ship it as
//! an SMS provider with its DLT parameters. AWS would also bring its own request signing.
//!
//! Pages: `docs.gupshup.io/docs/send-message-to-single-number` (parameters),
//! `docs.gupshup.io/docs/error-codes` (errors), `docs.gupshup.io/docs/real-time-delivery-reports`
//! (receipts); the causes of failed deliveries are listed in SuprSend's manual
//! (`docs.suprsend.com/docs/gupshup-sms-errors`).

mod receipts;

use crate::http_client::Answer;
use crate::wire::{word, word_at};
use crate::{BaseUrl, HttpClient, Secret};
use async_trait::async_trait;
use dwar_otp::{Channel, Gateway, Message, Outcome, Reason};
use serde::Deserialize;
use serde_json::Value;
use serde_with::{As, NoneAsEmptyString};

const PROVIDER: &str = "gupshup";

/// An Enterprise SMS account at Gupshup and its DLT registration: the section
/// `[gateways.gupshup]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GupshupSettings {
    /// The API's host: `https://enterprise.smsgupshup.com`.
    pub base_url: BaseUrl,
    pub user_id: String,
    /// The account's password. Empty: there is no account.
    pub password: Secret,
    /// The registered header (sender id, «mask»); `None` takes the account's own.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub sender: Option<String>,
    /// The DLT principal entity id.
    pub entity_id: String,
    /// The DLT content template id of the default text; a project's own replaces it.
    pub template_id: String,
    /// What its callbacks must carry: the address entered in its panel ends in `?token=…`. Empty:
    /// no callback is set up, so no receipt is waited for.
    pub webhook_token: Secret,
}

/// Sends SMS over Gupshup and reads its real-time delivery reports.
///
/// The text goes out as it is: it must equal the registered template outside of its variables. The
/// API answers refusals with HTTP 200, and signs nothing: callbacks are known by a shared secret.
#[derive(Clone, Debug)]
pub struct GupshupGateway {
    settings: GupshupSettings,
    client: HttpClient,
}

impl GupshupGateway {
    /// A gateway for one account.
    pub fn new(settings: GupshupSettings, client: HttpClient) -> Self {
        Self { settings, client }
    }

    fn form(&self, message: &Message) -> Vec<(&'static str, String)> {
        let settings = &self.settings;
        let template = message.template_id.as_ref().unwrap_or(&settings.template_id);
        let kind = if message.text.is_ascii() { "TEXT" } else { "Unicode_Text" };
        let mut form = vec![
            ("method", "SendMessage".to_owned()),
            ("v", "1.1".to_owned()),
            ("format", "json".to_owned()),
            ("auth_scheme", "plain".to_owned()),
            ("userid", settings.user_id.clone()),
            ("password", settings.password.expose().to_owned()),
            ("send_to", format!("91{}", message.phone.national())),
            ("msg", message.text.clone()),
            ("msg_type", kind.to_owned()),
            ("principalEntityId", settings.entity_id.clone()),
            ("dltTemplateId", template.clone()),
        ];
        form.extend(settings.sender.clone().map(|sender| ("mask", sender)));
        form
    }

    fn judge(&self, answer: &Answer) -> Outcome {
        let verdict = Verdict::read(answer);
        match verdict {
            Some(Verdict { success: true, id }) if answer.is_success() => {
                let awaits_receipt = !self.settings.webhook_token.is_empty() && id.is_some();
                Outcome::Accepted { provider_ref: id, awaits_receipt }
            }
            verdict => {
                let refused = verdict.as_ref().is_some_and(|verdict| !verdict.success);
                let code = verdict.and_then(|verdict| verdict.id?.parse().ok());
                let open = || if refused { answer.refusal() } else { answer.reason() };
                let reason = code.and_then(reason).unwrap_or_else(open);
                answer.log_refusal(PROVIDER, code, reason);
                Outcome::Refused(reason)
            }
        }
    }
}

/// Sends SMS alone; anything else is refused as [`Reason::ProviderUnavailable`].
#[async_trait]
impl Gateway for GupshupGateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        if message.channel != Channel::Sms {
            tracing::warn!(provider = PROVIDER, otp = %message.otp, "it only sends SMS");
            return Outcome::Refused(Reason::ProviderUnavailable);
        }
        // A form and not the query that the page shows: addresses end up in logs on the way.
        let url = format!("{}/GatewayAPI/rest", self.settings.base_url);
        let call = self.client.post(&url).form(&self.form(&message));
        match self.client.send(PROVIDER, call).await {
            Ok(answer) => self.judge(&answer),
            Err(reason) => Outcome::Refused(reason),
        }
    }
}

/// What the answer says; `id` is the message's on success and the error code otherwise.
struct Verdict {
    success: bool,
    id: Option<String>,
}

impl Verdict {
    /// Reads `{"response": {"status", "id", …}}` and, should the API not heed the format asked for,
    /// the `status | … | …` of its text format.
    fn read(answer: &Answer) -> Option<Self> {
        if let Some(body) = answer.json::<Value>() {
            let response = body.get("response")?;
            let status = response.get("status").and_then(word)?;
            return Self::new(&status, word_at(response, "/id"));
        }
        let text = std::str::from_utf8(answer.body()).ok()?;
        let mut parts = text.trim().split('|').map(|part| part.trim().to_owned());
        let (status, second, third) = (parts.next()?, parts.next(), parts.next());
        let id = if status.eq_ignore_ascii_case("success") { third } else { second };
        Self::new(&status, id.filter(|id| !id.is_empty()))
    }

    fn new(status: &str, id: Option<String>) -> Option<Self> {
        match status.to_ascii_lowercase().as_str() {
            "success" => Some(Self { success: true, id }),
            "error" => Some(Self { success: false, id }),
            _ => None,
        }
    }
}

/// What Gupshup's error codes mean.
const fn reason(code: i64) -> Option<Reason> {
    match code {
        // Wrong user or password, unknown user, user disabled.
        102..=104 => Some(Reason::ProviderAuth),
        // Invalid phone number.
        105 => Some(Reason::RejectedNumber),
        // Invalid mask: the sender is part of what is registered.
        108 => Some(Reason::TemplateRejected),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
