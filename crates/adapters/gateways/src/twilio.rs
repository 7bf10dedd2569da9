use crate::http_client::Answer;
use crate::language::for_language;
use crate::signature::is_signed;
use crate::vendor::{Vendor, undelivered};
use crate::{BaseUrl, HttpClient, Secret};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dwar_otp::{
    Channel, Message, Reason, Report, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use hmac::Hmac;
use reqwest::{RequestBuilder, Url};
use serde::Deserialize;
use serde_json::{Value, json};
use serde_with::{As, NoneAsEmptyString};
use sha1::Sha1;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

const PROVIDER: &str = "twilio";

/// A status callback has about twenty short fields. A message of a user, which Twilio may send to
/// the same address, has at most 1,600 characters and ten media:
/// <https://www.twilio.com/docs/messaging/guides/webhook-request>. Encoded, that stays below this.
const LONGEST_BODY: usize = 32 * 1_024;
const MOST_FIELDS: usize = 128;

/// Longest queue time of a message, in seconds, that every version of Twilio's documents allows.
const MAX_VALIDITY: u64 = 14_400;

/// The meaning of Twilio's error codes, in answers and receipts; `None` for codes that are of no
/// use to a caller, such as 30003 (the phone is off) and 30008 (unknown).
///
/// Sources: <https://www.twilio.com/docs/api/errors>,
/// <https://www.twilio.com/docs/whatsapp/api/error-code-mapping>.
const fn reason_of(code: i64) -> Option<Reason> {
    Some(match code {
        // Not on WhatsApp, or not an address; not joined to the sandbox.
        63_003 | 63_015 | 63_024 => Reason::NotOnChannel,
        // No number, no mobile, a landline, one that no longer exists; unverified on a trial; out
        // of the sender's reach; too many from one sender to it.
        14_107 | 21_211 | 21_214 | 21_401 | 21_608 | 21_612 | 21_614 | 21_635 | 30_005 | 30_006 => {
            Reason::RejectedNumber
        }
        // Opted out; blocked or filtered by the carrier; taken for pumping; blocked by the user,
        // by WhatsApp's policy or limits.
        21_610 | 30_004 | 30_007 | 30_450 | 30_453 | 63_013 | 63_014 | 63_032 | 63_049 => {
            Reason::Blocked
        }
        // Too long; outside the window; DLT; content, language, parameters; rejected, paused,
        // disabled.
        21_617 | 21_655 | 21_656 | 21_901 => Reason::TemplateRejected,
        63_005 | 63_016 | 63_021 | 63_027 | 63_028 | 63_030 | 63_040 | 63_041 | 63_042 => {
            Reason::TemplateRejected
        }
        // Credentials or the account; suspended.
        10_001 | 20_003 | 20_005 | 20_404 | 30_002 | 63_001 => Reason::ProviderAuth,
        // The sender or its service is not ours; the country is not enabled.
        21_212 | 21_408 | 21_603 | 21_606 | 21_701 | 21_703 | 21_704 | 63_002 | 63_007 => {
            Reason::ProviderAuth
        }
        // Requests, queues, the channel's rate and daily limits.
        20_429 | 21_611 | 30_001 | 63_017 | 63_018 | 63_038 => Reason::ProviderThrottled,
        // Twilio, the carrier or the channel is down or congested.
        20_500 | 20_503 | 30_017 | 30_410 | 63_009 | 63_010 | 63_012 => Reason::ProviderUnavailable,
        // The message waited in the queue until its code had expired.
        30_036 => Reason::Timeout,
        _ => return None,
    })
}

/// Our account with Twilio and its senders: the section `[gateways.twilio]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwilioSettings {
    /// `https://api.twilio.com`.
    pub base_url: BaseUrl,
    /// `AC…`.
    pub account_sid: String,
    /// The account's primary token. It also signs the calls to us, whatever credentials the calls
    /// to Twilio use. If empty, there is no account and no call is accepted.
    pub auth_token: Secret,
    /// `SK…`, an API key, which can be revoked without changing the account's token.
    pub api_key_sid: String,
    /// The secret of the API key. If empty, calls to Twilio use the account's SID and token.
    pub api_key_secret: Secret,
    /// The sender of SMS: the SID of a messaging service, `MG…`, which picks one of its senders, a
    /// number in E.164, or an alphanumeric sender id (in India the registered header). `None`
    /// disables SMS.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub sms_sender: Option<String>,
    /// An approved WhatsApp sender: `MG…` too, or only the number, without the prefix `whatsapp:`.
    /// `None` disables WhatsApp.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub whatsapp_sender: Option<String>,
    /// SIDs, `HX…`, of approved templates of the type `whatsapp/authentication`, by BCP 47 tag;
    /// languages without one use `en`.
    pub whatsapp_templates: BTreeMap<String, String>,
}

/// Sends codes over Twilio, as SMS or as WhatsApp authentication templates, and reads its receipts.
///
/// An SMS contains the whole text. For India it must equal, word for word, a DLT template that was
/// registered beforehand with the sender's header, because Twilio accepts no template id with the
/// message. Sources: `spec/json/twilio_api_v2010.json` in <https://github.com/twilio/twilio-oai>,
/// <https://www.twilio.com/docs/messaging/api/message-resource>,
/// <https://www.twilio.com/docs/content/whatsappauthentication>.
pub struct Twilio {
    pub settings: TwilioSettings,
    /// Where the internet reaches us: `https://otp.example.com`. Receipts go to `/webhooks/twilio`
    /// there; `None` requests none. It has to be configured, because behind a proxy we do not see
    /// the URL that Twilio signs.
    pub public_url: Option<BaseUrl>,
}

impl Twilio {
    fn form(&self, message: &Message) -> Result<Vec<(&'static str, String)>, Reason> {
        let TwilioSettings { sms_sender, whatsapp_sender, whatsapp_templates, .. } = &self.settings;
        let to = message.phone.e164();
        let mut form = match message.channel {
            Channel::Sms => {
                let sender = sms_sender.as_ref().ok_or_else(not_configured)?;
                let validity = (u64::from(message.minutes) * 60).clamp(1, MAX_VALIDITY);
                vec![
                    ("To", to),
                    sender_field(sender, ""),
                    ("Body", message.text.clone()),
                    ("ValidityPeriod", validity.to_string()),
                ]
            }
            Channel::Whatsapp => {
                let sender = whatsapp_sender.as_ref().ok_or_else(not_configured)?;
                let template = for_language(whatsapp_templates, &message.language);
                vec![
                    ("To", format!("whatsapp:{to}")),
                    sender_field(sender, "whatsapp:"),
                    ("ContentSid", template.ok_or_else(no_template)?.clone()),
                    ("ContentVariables", json!({ "1": message.code.expose() }).to_string()),
                ]
            }
        };
        if let Some(url) = &self.public_url {
            form.push(("StatusCallback", format!("{url}/webhooks/{PROVIDER}")));
        }
        Ok(form)
    }
}

/// The signature in a call: 20 bytes in Base64.
fn claimed(head: &WebhookHead) -> Option<[u8; 20]> {
    STANDARD.decode(head.header("x-twilio-signature")?).ok()?.try_into().ok()
}

fn not_configured() -> Reason {
    tracing::error!(provider = PROVIDER, "routed a message of a channel that has no sender");
    Reason::ProviderUnavailable
}

fn no_template() -> Reason {
    tracing::error!(provider = PROVIDER, "no template for the language, and none for en");
    Reason::TemplateRejected
}

fn sender_field(sender: &str, prefix: &str) -> (&'static str, String) {
    if sender.starts_with("MG") {
        ("MessagingServiceSid", sender.to_owned())
    } else {
        ("From", format!("{prefix}{sender}"))
    }
}

/// The URL with and without its port: it depends on the product which of them Twilio signs, and its
/// own libraries accept both.
fn spellings(public_url: &BaseUrl) -> BTreeSet<String> {
    let mut spellings = BTreeSet::from([public_url.to_string()]);
    if let Ok(url) = Url::parse(public_url.as_str())
        && let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default())
    {
        let (scheme, path) = (url.scheme(), url.path().trim_end_matches('/'));
        spellings.insert(format!("{scheme}://{host}{path}"));
        spellings.insert(format!("{scheme}://{host}:{port}{path}"));
    }
    spellings
}

/// The fields sorted by name, then value, each pair once, as Twilio signs them; `None` if there are
/// more than in any call of Twilio. They are counted before any is decoded.
fn form(body: &[u8]) -> Option<Vec<(Cow<'_, str>, Cow<'_, str>)>> {
    if body.iter().filter(|byte| **byte == b'&').count() >= MOST_FIELDS {
        return None;
    }
    let mut form: Vec<_> = form_urlencoded::parse(body).collect();
    form.sort_unstable();
    form.dedup();
    Some(form)
}

impl Vendor for Twilio {
    fn name(&self) -> &str {
        PROVIDER
    }

    fn address(&self) -> Option<&str> {
        Some(self.settings.base_url.as_str())
    }

    fn call(&self, client: &HttpClient, message: &Message) -> Result<RequestBuilder, Reason> {
        let form = self.form(message)?;
        let it = &self.settings;
        let (user, password) = if it.api_key_secret.is_empty() {
            (&it.account_sid, &it.auth_token)
        } else {
            (&it.api_key_sid, &it.api_key_secret)
        };
        let path = format!("2010-04-01/Accounts/{}/Messages.json", it.account_sid);
        let url = format!("{}/{path}", it.base_url);
        Ok(client.post(&url).basic_auth(user, Some(password.expose())).form(&form))
    }

    fn judge(&self, _: Channel, answer: &Answer) -> Result<Option<String>, Reason> {
        let text = |name| answer.body.get(name).and_then(Value::as_str);
        let failed = matches!(text("status"), None | Some("failed" | "undelivered" | "canceled"));
        let taken = answer.status.is_success() && !failed;
        if let Some(sid) = text("sid").filter(|sid| taken && !sid.is_empty()) {
            return Ok(Some(sid.to_owned()));
        }
        // A message that failed at once has the reason in another field than a refusal.
        let code = ["error_code", "code"].iter().find_map(|name| answer.body.get(name)?.as_i64());
        Err(answer.refused(PROVIDER, code, code.and_then(reason_of)))
    }

    fn reports(&self) -> bool {
        self.public_url.is_some()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        claimed(head).ok_or(WebhookError::Unauthenticated)?;
        Ok(WebhookAdmission { longest_body: LONGEST_BODY, proven: false })
    }

    /// Twilio signs the called URL, followed by every parameter, name and value, sorted by name:
    /// <https://www.twilio.com/docs/usage/webhooks/webhooks-security>. The other scheme, over the
    /// hash of a raw body, is for JSON, and status callbacks are not JSON.
    fn is_signed(&self, call: &WebhookCall) -> bool {
        let (Some(given), Some(form)) = (claimed(&call.head), form(&call.body)) else {
            return false;
        };
        self.public_url.iter().flat_map(spellings).any(|url| {
            let mut parts = vec![url.as_bytes(), call.head.path_and_query.as_bytes()];
            parts.extend(form.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]));
            is_signed::<Hmac<Sha1>>(&self.settings.auth_token, &parts, &given)
        })
    }

    /// A callback for each status after the first, in any order; source:
    /// <https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks>.
    fn read(&self, call: &WebhookCall) -> Option<Vec<(String, Report)>> {
        let form = form(&call.body)?;
        let field = |name| form.iter().find(|(known, _)| known == name).map(|(_, value)| &**value);
        let sid = field("MessageSid")?;
        let status = field("MessageStatus").unwrap_or_default();
        let code = field("ErrorCode").and_then(|code| code.parse().ok());
        Some(report(status, code).map(|report| (sid.to_owned(), report)).into_iter().collect())
    }
}

fn report(status: &str, code: Option<i64>) -> Option<Report> {
    match status {
        "delivered" | "read" => Some(Report::Delivered),
        "undelivered" | "failed" | "canceled" => {
            Some(undelivered(PROVIDER, code, code.and_then(reason_of)))
        }
        // On the way (accepted, scheduled, queued, sending, sent, partially_delivered), or a
        // message to us (receiving, received).
        _ => None,
    }
}

#[cfg(test)]
#[path = "twilio_tests.rs"]
mod tests;
