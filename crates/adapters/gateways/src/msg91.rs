//! MSG91: SMS by Flow and WhatsApp templates.
//!
//! Pages: `docs.msg91.com/sms/send-sms` (Flow), `docs.msg91.com/whatsapp` (outbound template),
//! `msg91.com/help/webhooks/how-can-i-get-the-delivery-reports-on-my-webhook-url` (receipts v2 to
//! v4) and `msg91.com/help/webhook-new/…` («Webhook (New)», for SMS and for WhatsApp).

mod receipts;

use crate::http_client::Answer;
use crate::language::for_language;
use crate::wire::{word, word_at};
use crate::{BaseUrl, HttpClient, Secret, WhatsappTemplate};
use async_trait::async_trait;
use dwar_otp::{Channel, Gateway, Message, Outcome, Reason};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use serde_with::{As, NoneAsEmptyString};
use std::collections::BTreeMap;

const PROVIDER: &str = "msg91";

/// An account at MSG91 and what is registered there: the section `[gateways.msg91]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Msg91Settings {
    /// The API's host: `https://control.msg91.com`.
    pub base_url: BaseUrl,
    /// The account's `authkey`. Empty: there is no account.
    pub auth_key: Secret,
    /// What its webhooks must carry: the address entered in its panel ends in `?token=…`. Empty:
    /// no webhook is set up, so no receipt is waited for.
    pub webhook_token: Secret,
    /// MSG91's own id of the SMS template, whose DLT id it knows from its panel; `None` sends no
    /// SMS. A project's own template id replaces it, and is one of MSG91 too.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub sms_template_id: Option<String>,
    /// Which of that template's variables carries what.
    pub sms_variables: BTreeMap<String, Msg91Variable>,
    /// The integrated WhatsApp number, digits with the country code; `None` sends nothing there.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub whatsapp_number: Option<String>,
    /// The namespace of the WhatsApp templates, where the account has one.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub whatsapp_namespace: Option<String>,
    /// Whether these templates have the copy-code button, which takes the code once more. Meta's
    /// authentication templates do.
    pub whatsapp_code_button: bool,
    /// The WhatsApp templates by BCP 47 tag; `en` serves languages that have none.
    pub whatsapp_templates: BTreeMap<String, WhatsappTemplate>,
}

/// What a template's variable carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Msg91Variable {
    /// The six digits.
    Code,
    /// Who sends it.
    Brand,
    /// For how many minutes the code works.
    Minutes,
}

/// Sends over MSG91 and reads its webhooks.
///
/// One request has one recipient, so the request id names the message. MSG91 answers some refusals
/// with HTTP 200, and signs nothing: its webhooks are known by a shared secret alone.
#[derive(Clone, Debug)]
pub struct Msg91Gateway {
    settings: Msg91Settings,
    client: HttpClient,
}

impl Msg91Gateway {
    /// A gateway for one account.
    pub fn new(settings: Msg91Settings, client: HttpClient) -> Self {
        Self { settings, client }
    }

    fn request(&self, message: &Message) -> Option<(&'static str, Value)> {
        match message.channel {
            Channel::Sms => Some(("/api/v5/flow", flow(&self.settings, message)?)),
            Channel::Whatsapp => {
                let path = "/api/v5/whatsapp/whatsapp-outbound-message/bulk/";
                Some((path, outbound(&self.settings, message)?))
            }
        }
    }

    fn judge(&self, channel: Channel, answer: &Answer) -> Outcome {
        let body: Value = answer.json().unwrap_or_default();
        if !answer.is_success() || !says_success(&body) {
            let code = error_code(&body);
            let open = || if says_error(&body) { answer.refusal() } else { answer.reason() };
            let reason = code.and_then(reason).unwrap_or_else(open);
            answer.log_refusal(PROVIDER, code, reason);
            return Outcome::Refused(reason);
        }
        let provider_ref = match channel {
            Channel::Sms => word_at(&body, "/message"),
            Channel::Whatsapp => word_at(&body, "/request_id"),
        };
        let awaits_receipt = !self.settings.webhook_token.is_empty() && provider_ref.is_some();
        Outcome::Accepted { provider_ref, awaits_receipt }
    }
}

/// Refuses channels and languages that are not configured as [`Reason::ProviderUnavailable`].
#[async_trait]
impl Gateway for Msg91Gateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let Some((path, body)) = self.request(&message) else {
            tracing::warn!(provider = PROVIDER, otp = %message.otp, "nothing is configured for it");
            return Outcome::Refused(Reason::ProviderUnavailable);
        };
        let call = self
            .client
            .post(&format!("{}{path}", self.settings.base_url))
            .header("authkey", self.settings.auth_key.expose())
            .header("accept", "application/json")
            .json(&body);
        match self.client.send(PROVIDER, call).await {
            Ok(answer) => self.judge(message.channel, &answer),
            Err(reason) => Outcome::Refused(reason),
        }
    }
}

fn digits(message: &Message) -> String {
    format!("91{}", message.phone.national())
}

fn flow(settings: &Msg91Settings, message: &Message) -> Option<Value> {
    let template_id = settings.sms_template_id.as_ref()?;
    let mut recipient = Map::new();
    for (name, variable) in &settings.sms_variables {
        let value = match variable {
            Msg91Variable::Code => message.code.expose().to_owned(),
            Msg91Variable::Brand => message.brand.clone(),
            Msg91Variable::Minutes => message.minutes.to_string(),
        };
        recipient.insert(name.clone(), Value::String(value));
    }
    recipient.insert("mobiles".to_owned(), Value::String(digits(message)));
    Some(json!({
        "template_id": message.template_id.as_ref().unwrap_or(template_id),
        // A shortened link would no longer be the registered text.
        "short_url": "0",
        "recipients": [recipient],
    }))
}

fn outbound(settings: &Msg91Settings, message: &Message) -> Option<Value> {
    let number = settings.whatsapp_number.as_ref()?;
    let template = for_language(&settings.whatsapp_templates, &message.language)?;
    let code = message.code.expose();
    let mut components = json!({"body_1": {"type": "text", "value": code}});
    if settings.whatsapp_code_button {
        components["button_1"] = json!({"subtype": "url", "type": "text", "value": code});
    }
    let mut body = json!({
        "integrated_number": number,
        "content_type": "template",
        "payload": {
            "messaging_product": "whatsapp",
            "type": "template",
            "template": {
                "name": template.name,
                "language": {"code": template.language, "policy": "deterministic"},
                "to_and_components": [{"to": [digits(message)], "components": components}],
            },
        },
    });
    if let Some(namespace) = &settings.whatsapp_namespace {
        body["payload"]["template"]["namespace"] = json!(namespace);
    }
    Some(body)
}

/// Flow says `type`, the WhatsApp API `status`; a failure of either may say nothing else.
fn says_success(body: &Value) -> bool {
    verdict(body).is_some_and(|verdict| verdict.eq_ignore_ascii_case("success")) && !has_error(body)
}

/// Whether it says in so many words that nothing was taken.
fn says_error(body: &Value) -> bool {
    let verdict = verdict(body).or_else(|| body.get("msgType")?.as_str());
    let negative = |verdict: &str| {
        ["error", "fail", "failed"].iter().any(|word| verdict.eq_ignore_ascii_case(word))
    };
    has_error(body) || verdict.is_some_and(negative)
}

fn verdict(body: &Value) -> Option<&str> {
    let said = |name: &str| body.get(name).and_then(Value::as_str);
    said("type").or_else(|| said("status"))
}

fn has_error(body: &Value) -> bool {
    body.get("hasError").and_then(Value::as_bool) == Some(true)
}

fn error_code(body: &Value) -> Option<i64> {
    let code = ["code", "apiError"].into_iter().find_map(|name| word(body.get(name)?));
    code?.parse().ok()
}

/// What MSG91's error codes mean, as integrations of its classic SMS API list them (of the vendor's
/// own pages, `msg91.com/help/api` names 418); a refusal without a code is judged by its status.
const fn reason(code: i64) -> Option<Reason> {
    match code {
        // Invalid user, invalid authkey, IP blacklisted, account expired, banned or a demo, IP not
        // on the allow-list.
        201 | 207 | 208 | 302 | 303 | 418 | 505 => Some(Reason::ProviderAuth),
        // Invalid mobile number.
        202 => Some(Reason::RejectedNumber),
        // Sender id invalid or blacklisted, text too long, template (flow) id missing.
        203 | 310 | 400 | 603 => Some(Reason::TemplateRejected),
        // The same request twice in ten seconds, too many small campaigns in a day.
        311 | 506 => Some(Reason::ProviderThrottled),
        // No route, no balance, route closed, internal errors.
        1 | 2 | 209 | 210 | 301 | 306 | 402 | 601 | 602 => Some(Reason::ProviderUnavailable),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
