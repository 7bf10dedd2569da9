//! MSG91: SMS by Flow and WhatsApp templates.
//!
//! Pages: `docs.msg91.com/sms/send-sms` (Flow), `docs.msg91.com/whatsapp` (outbound template),
//! `msg91.com/help/webhooks/how-can-i-get-the-delivery-reports-on-my-webhook-url` (receipts v2 to
//! v4), `msg91.com/help/webhook-new/…` («Webhook (New)», for SMS and for WhatsApp) and
//! `knowledgebase.msg91.com/what-is-the-meaning-of-different-status-in-the-delivery-reports--1590138390124319` (the
//! words of reports).

use crate::http_client::Answer;
use crate::language::for_language;
use crate::vendor::{Entry, MismatchedEntry, Vendor, reports_of};
use crate::webhook_token::admit;
use crate::wire::{first_word, form_field, items, word_at};
use crate::{BaseUrl, HttpClient, Secret, WhatsappTemplate, whatsapp_cloud};
use dwar_otp::{
    Channel, Message, Reason, Report, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use reqwest::RequestBuilder;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use serde_with::{As, NoneAsEmptyString};
use std::collections::BTreeMap;

const PROVIDER: &str = "msg91";

/// MSG91 documents no maximum. A report is about 200 bytes of JSON
/// (`msg91.com/help/webhooks/how-can-i-get-the-delivery-reports-on-my-webhook-url`), so this is
/// enough for a thousand of them, encoded as a form.
const LONGEST_BODY: usize = 512 * 1_024;

/// An account at MSG91 and its registrations: the section `[gateways.msg91]`.
///
/// One request has one recipient, so the request id identifies the message. MSG91 answers some
/// refusals with HTTP 200 and signs nothing, so its webhooks are authenticated only by a shared
/// secret.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Msg91 {
    /// The API's host: `https://control.msg91.com`.
    pub base_url: BaseUrl,
    /// The account's `authkey`. Empty if there is no account.
    pub auth_key: Secret,
    /// The secret of its webhooks: the address entered in its panel ends in `?token=…`. If empty,
    /// no webhook is set up and no receipt is expected.
    pub webhook_token: Secret,
    /// MSG91's own id of the SMS template, which is linked to a DLT id in its panel; `None`
    /// disables SMS. A project's own template id overrides it, and must also be an id of MSG91.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub sms_template_id: Option<String>,
    pub sms_variables: BTreeMap<String, Msg91Variable>,
    /// The integrated WhatsApp number, digits with the country code; `None` disables WhatsApp.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub whatsapp_number: Option<String>,
    /// The namespace of the WhatsApp templates, if the account has one.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub whatsapp_namespace: Option<String>,
    /// Whether these templates have the copy-code button, which contains the code again. Meta's
    /// authentication templates do.
    pub whatsapp_code_button: bool,
    /// The WhatsApp templates by BCP 47 tag; languages without one use `en`.
    pub whatsapp_templates: BTreeMap<String, WhatsappTemplate>,
}

/// The content of one variable of a registered template, such as the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Msg91Variable {
    Code,
    Brand,
    Minutes,
}

impl Vendor for Msg91 {
    fn name(&self) -> &str {
        PROVIDER
    }

    fn address(&self) -> Option<&str> {
        Some(self.base_url.as_str())
    }

    /// A channel or language that is not configured is [`Reason::ProviderUnavailable`].
    fn call(&self, client: &HttpClient, message: &Message) -> Result<RequestBuilder, Reason> {
        let (path, body) = match message.channel {
            Channel::Sms => ("/api/v5/flow", self.flow(message)),
            Channel::Whatsapp => {
                ("/api/v5/whatsapp/whatsapp-outbound-message/bulk/", self.outbound(message))
            }
        };
        let Some(body) = body else {
            tracing::warn!(provider = PROVIDER, otp = %message.otp, "nothing is configured for it");
            return Err(Reason::ProviderUnavailable);
        };
        let call = client
            .post(&format!("{}{path}", self.base_url))
            .header("authkey", self.auth_key.expose())
            .header("accept", "application/json");
        Ok(call.json(&body))
    }

    fn judge(&self, channel: Channel, answer: &Answer) -> Result<Option<String>, Reason> {
        let body = &answer.body;
        let verdict = verdict(body);
        if verdict != Some(true) || !answer.status.is_success() {
            let code = first_word(body, &["code", "apiError"]).and_then(|code| code.parse().ok());
            let refusal = || (verdict == Some(false)).then(|| answer.refusal());
            return Err(answer.refused(PROVIDER, code, code.and_then(reason).or_else(refusal)));
        }
        Ok(match channel {
            Channel::Sms => word_at(body, "/message"),
            Channel::Whatsapp => word_at(body, "/request_id"),
        })
    }

    fn reports(&self) -> bool {
        !self.webhook_token.is_empty()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        admit(head, &self.webhook_token, LONGEST_BODY)
    }

    /// Reads «Webhook» v2 (a form whose field `data` is JSON) and v3 (flat JSON), and «Webhook
    /// (New)» of SMS and WhatsApp as long as its payload has `requestId` and `status` (or
    /// `eventName`). v4 names no request, so it cannot be read.
    fn read(&self, call: &WebhookCall) -> Option<Vec<(String, Report)>> {
        let document = document(&call.body)?;
        reports_of(PROVIDER, items(&document)?.iter().flat_map(of_request))
    }
}

impl Msg91 {
    fn flow(&self, message: &Message) -> Option<Value> {
        let template_id = self.sms_template_id.as_ref()?;
        let mut recipient = Map::new();
        for (name, variable) in &self.sms_variables {
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
            // With a shortened link the text would no longer be the registered one.
            "short_url": "0",
            "recipients": [recipient],
        }))
    }

    fn outbound(&self, message: &Message) -> Option<Value> {
        let number = self.whatsapp_number.as_ref()?;
        let template = for_language(&self.whatsapp_templates, &message.language)?;
        let code = message.code.expose();
        let mut components = json!({"body_1": {"type": "text", "value": code}});
        if self.whatsapp_code_button {
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
        if let Some(namespace) = &self.whatsapp_namespace {
            body["payload"]["template"]["namespace"] = json!(namespace);
        }
        Some(body)
    }
}

fn digits(message: &Message) -> String {
    format!("91{}", message.phone.national())
}

/// Whether the answer says that the message was accepted or refused. Flow uses `type`, the WhatsApp
/// API `status`; a failure of either may contain only that, or `msgType`.
fn verdict(body: &Value) -> Option<bool> {
    if body.get("hasError").and_then(Value::as_bool) == Some(true) {
        return Some(false);
    }
    let said = |name: &str| body.get(name)?.as_str().map(str::to_ascii_lowercase);
    match said("type").or_else(|| said("status")).as_deref() {
        Some("success") => Some(true),
        Some("error" | "fail" | "failed") => Some(false),
        Some(_) => None,
        None => matches!(said("msgType")?.as_str(), "error" | "fail" | "failed").then_some(false),
    }
}

/// The meaning of MSG91's error codes, as integrations of its classic SMS API list them (of the
/// vendor's own pages, `msg91.com/help/api` names 418). A refusal without a code is judged by its
/// status.
const fn reason(code: i64) -> Option<Reason> {
    match code {
        // Invalid user, invalid authkey, IP blacklisted, account expired, banned or a demo, IP not
        // on the allow-list.
        201 | 207 | 208 | 302 | 303 | 418 | 505 => Some(Reason::ProviderAuth),
        // Invalid mobile number; the same message to this number within ten seconds.
        202 | 311 => Some(Reason::RejectedNumber),
        // Sender id invalid or blacklisted, text too long, template (flow) id missing.
        203 | 310 | 400 | 603 => Some(Reason::TemplateRejected),
        // Too many small campaigns in a day.
        506 => Some(Reason::ProviderThrottled),
        // No route, no balance, route closed, internal errors.
        1 | 2 | 209 | 210 | 301 | 306 | 402 | 601 | 602 => Some(Reason::ProviderUnavailable),
        _ => None,
    }
}

/// The JSON of the call: the body itself, or the content of its field `data`.
fn document(body: &[u8]) -> Option<Value> {
    let direct: Option<Value> = serde_json::from_slice(body).ok();
    match direct {
        Some(Value::Object(object)) => match object.get("data") {
            Some(Value::String(inner)) => serde_json::from_str(inner).ok(),
            _ => Some(Value::Object(object)),
        },
        Some(other) => Some(other),
        None => serde_json::from_str(&form_field(body, "data")?).ok(),
    }
}

fn of_request(request: &Value) -> Vec<Entry> {
    let Some(provider_ref) = word_at(request, "/requestId") else {
        return vec![Err(MismatchedEntry)];
    };
    let reports = match request.get("report") {
        Some(Value::Array(reports)) => reports.as_slice(),
        _ => std::slice::from_ref(request),
    };
    let named = |report| (provider_ref.clone(), report);
    reports.iter().map(|entry| Ok(report(entry)?.map(named))).collect()
}

fn report(entry: &Value) -> Result<Option<Report>, MismatchedEntry> {
    // If the number or word of the status is unknown, its description may be known.
    let words = [&["status", "eventName"], &["desc", "description"]];
    let words: Vec<_> = words.iter().filter_map(|names| first_word(entry, *names)).collect();
    if words.is_empty() {
        return Err(MismatchedEntry);
    }
    Ok(match words.iter().find_map(|word| meaning(word)) {
        Some(Report::Failed(Reason::Unknown)) => {
            let why = first_word(entry, &["failedReason", "failureReason", "reason"]);
            Some(Report::Failed(why.map_or(Reason::Unknown, |why| cause(&why))))
        }
        other => other,
    })
}

/// The meaning of a status: the numbers of v2 and v3 (1 delivered, 2 failed, 9 NDNC, 16 and 25
/// rejected, 17 blocked number) and the words of the reports, however their parts are joined.
/// Others mean that the message is on the way.
fn meaning(status: &str) -> Option<Report> {
    let letters = status.chars().filter(char::is_ascii_alphanumeric);
    match letters.collect::<String>().to_ascii_lowercase().as_str() {
        "1" | "delivered" | "read" => Some(Report::Delivered),
        "2" | "failed" | "undelivered" => Some(Report::Failed(Reason::Unknown)),
        // MSG91 does not send to a number where messages have failed for long.
        "autofailed" => Some(Report::Failed(Reason::RejectedNumber)),
        "9" | "16" | "17" | "25" | "ndnc" | "rejected" | "blocked" | "blockednumber" => {
            Some(Report::Failed(Reason::Blocked))
        }
        _ => None,
    }
}

/// Why WhatsApp failed, if the reason names one of Meta's codes (six digits).
fn cause(why: &str) -> Reason {
    let words = why.split(|character: char| !character.is_ascii_digit());
    let codes = words.filter(|word| word.len() == 6).filter_map(|word| word.parse().ok());
    codes.into_iter().find_map(whatsapp_cloud::reason_of).unwrap_or(Reason::Unknown)
}

#[cfg(test)]
#[path = "msg91_tests.rs"]
mod tests;
