use crate::http_client::Answer;
use crate::language::for_language;
use crate::signature::sign;
use crate::{BaseUrl, HttpClient, Secret};
use async_trait::async_trait;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dwar_otp::{
    Channel, Gateway, Message, Outcome, Reason, Receipt, ReceiptSource, Report, WebhookAdmission,
    WebhookCall, WebhookError, WebhookHead,
};
use hmac::Hmac;
use reqwest::Url;
use serde::Deserialize;
use serde_json::json;
use serde_with::{As, NoneAsEmptyString};
use sha1::Sha1;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::str::FromStr;
use subtle::ConstantTimeEq;

const PROVIDER: &str = "twilio";

/// A status callback is some twenty short fields; a message of a user, which Twilio may send to the
/// same address, has 1,600 characters and ten media at most:
/// <https://www.twilio.com/docs/messaging/guides/webhook-request>. Encoded, that stays below this.
const LONGEST_BODY: usize = 32 * 1_024;
/// More than any of them has.
const MOST_FIELDS: usize = 128;

/// The most seconds that every version of Twilio's documents lets a message wait in its queue.
const MAX_VALIDITY: u64 = 14_400;

/// What Twilio's error codes mean, in an answer and in a receipt alike; `None` for those that say
/// nothing a caller could use, such as 30003 (the phone is off) and 30008 (unknown).
///
/// Sources: <https://www.twilio.com/docs/api/errors>,
/// <https://www.twilio.com/docs/whatsapp/api/error-code-mapping>.
const fn reason_of(code: i64) -> Option<Reason> {
    Some(match code {
        // Not on WhatsApp, or the address is none; not joined to the sandbox.
        63_003 | 63_015 | 63_024 => Reason::NotOnChannel,
        // No number, no mobile, a landline, one that no longer exists; unverified on a trial; out
        // of the sender's reach.
        21_211 | 21_214 | 21_401 | 21_608 | 21_612 | 21_614 | 21_635 | 30_005 | 30_006 => {
            Reason::RejectedNumber
        }
        // Opted out; blocked or filtered by the carrier; taken for pumping; blocked by the user,
        // by WhatsApp's policy or limits.
        21_610 | 30_004 | 30_007 | 30_450 | 30_453 | 63_013 | 63_014 | 63_032 | 63_049 => {
            Reason::Blocked
        }
        // Too long; outside the window; DLT; content, language, parameters; rejected, paused,
        // disabled.
        21_617
        | 21_655
        | 21_656
        | 21_901
        | 63_005
        | 63_016
        | 63_021
        | 63_027
        | 63_028
        | 63_030
        | 63_040..=63_042 => Reason::TemplateRejected,
        // Credentials or the account; suspended.
        10_001 | 20_003 | 20_005 | 20_404 | 30_002 | 63_001 => Reason::ProviderAuth,
        // The sender or its service is not ours; the country is not switched on.
        21_212 | 21_408 | 21_603 | 21_606 | 21_701 | 21_703 | 21_704 | 63_002 | 63_007 => {
            Reason::ProviderAuth
        }
        // Requests, queues, the channel's rate and daily limits.
        20_429 | 21_611 | 30_001 | 63_018 | 63_038 => Reason::ProviderThrottled,
        // Twilio, the carrier or the channel is down or congested.
        20_500 | 20_503 | 30_017 | 30_410 | 63_009 | 63_010 | 63_012 => Reason::ProviderUnavailable,
        // It waited in the queue for longer than its code works.
        30_036 => Reason::Timeout,
        _ => return None,
    })
}

/// Who a message comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TwilioSender {
    /// The SID of a messaging service, `MG…`, which picks one of its senders.
    MessagingService(String),
    /// A number in E.164 or an alphanumeric sender id (in India the registered header); for
    /// WhatsApp the number alone, without the prefix `whatsapp:`.
    Number(String),
}

impl FromStr for TwilioSender {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let sender = if text.starts_with("MG") { Self::MessagingService } else { Self::Number };
        Ok(sender(text.to_owned()))
    }
}

/// Our account with Twilio: the section `[gateways.twilio]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TwilioSettings {
    /// `https://api.twilio.com`.
    pub base_url: BaseUrl,
    /// `AC…`.
    pub account_sid: String,
    /// The account's primary token; signs the calls to us, whatever the calls to Twilio use.
    /// Empty: there is no account, and no call is believed.
    pub auth_token: Secret,
    /// `SK…`, an API key, which can be revoked without changing the account's token.
    pub api_key_sid: String,
    /// Its secret; empty means that calls to Twilio use the account's SID and token.
    pub api_key_secret: Secret,
    /// Who SMS come from; `None` refuses them.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub sms_sender: Option<TwilioSender>,
    /// An approved WhatsApp sender; `None` refuses such messages.
    #[serde(with = "As::<NoneAsEmptyString>")]
    pub whatsapp_sender: Option<TwilioSender>,
    /// SIDs, `HX…`, of approved templates of the type `whatsapp/authentication`, by BCP 47 tag; a
    /// language that is not there takes `en`.
    pub whatsapp_templates: BTreeMap<String, String>,
}

/// Sends codes over Twilio, as SMS or as WhatsApp authentication templates, and reads its receipts.
///
/// An SMS carries the whole text. For India it must be, word for word, a DLT template that was
/// registered beforehand with the sender's header; Twilio takes no template id with the message.
/// Sources: `spec/json/twilio_api_v2010.json` in <https://github.com/twilio/twilio-oai>,
/// <https://www.twilio.com/docs/messaging/api/message-resource>,
/// <https://www.twilio.com/docs/content/whatsappauthentication>.
pub struct TwilioGateway {
    settings: TwilioSettings,
    public_url: Option<BaseUrl>,
    client: HttpClient,
    url: String,
    signed_urls: BTreeSet<String>,
}

impl TwilioGateway {
    /// A gateway for this account.
    ///
    /// `public_url` is where the world reaches us: `https://otp.example.com`. Receipts go to
    /// `/webhooks/twilio` there; `None` asks for none. It has to be configured since behind a proxy
    /// we do not see the URL that Twilio signs.
    pub fn new(settings: TwilioSettings, public_url: Option<BaseUrl>, client: HttpClient) -> Self {
        let TwilioSettings { base_url, account_sid, .. } = &settings;
        let url = format!("{base_url}/2010-04-01/Accounts/{account_sid}/Messages.json");
        let signed_urls = public_url.iter().flat_map(spellings).collect();
        Self { settings, public_url, client, url, signed_urls }
    }

    fn form(&self, message: &Message) -> Result<Vec<(&'static str, String)>, Reason> {
        let mut form = match message.channel {
            Channel::Sms => self.sms_form(message)?,
            Channel::Whatsapp => self.whatsapp_form(message)?,
        };
        if let Some(url) = &self.public_url {
            form.push(("StatusCallback", format!("{url}/webhooks/{PROVIDER}")));
        }
        Ok(form)
    }

    fn sms_form(&self, message: &Message) -> Result<Vec<(&'static str, String)>, Reason> {
        let sender = self.settings.sms_sender.as_ref().ok_or_else(not_configured)?;
        let validity = (u64::from(message.minutes) * 60).clamp(1, MAX_VALIDITY);
        Ok(vec![
            ("To", message.phone.e164()),
            sender_field(sender, ""),
            ("Body", message.text.clone()),
            ("ValidityPeriod", validity.to_string()),
        ])
    }

    fn whatsapp_form(&self, message: &Message) -> Result<Vec<(&'static str, String)>, Reason> {
        let settings = &self.settings;
        let sender = settings.whatsapp_sender.as_ref().ok_or_else(not_configured)?;
        let content_sid = for_language(&settings.whatsapp_templates, &message.language);
        let Some(content_sid) = content_sid else {
            tracing::error!(provider = PROVIDER, "no template for the language, and none for en");
            return Err(Reason::TemplateRejected);
        };
        Ok(vec![
            ("To", format!("whatsapp:{}", message.phone.e164())),
            sender_field(sender, "whatsapp:"),
            ("ContentSid", content_sid.clone()),
            ("ContentVariables", json!({ "1": message.code.expose() }).to_string()),
        ])
    }

    fn outcome(&self, answer: &Answer) -> Outcome {
        if let Some(created) = answer.json::<Created>().filter(|_| answer.is_success()) {
            return match &*created.status {
                "failed" | "undelivered" | "canceled" => refused(answer, created.error_code),
                _ if created.sid.is_empty() => refused(answer, None),
                _ => Outcome::Accepted {
                    provider_ref: Some(created.sid),
                    awaits_receipt: self.public_url.is_some(),
                },
            };
        }
        refused(answer, answer.json::<VendorError>().map(|error| error.code))
    }

    /// Twilio signs the URL it called, followed by every parameter, name and value, sorted by name:
    /// <https://www.twilio.com/docs/usage/webhooks/webhooks-security>. The other kind, over the
    /// hash of a raw body, is for JSON, which status callbacks are not.
    fn authenticate(&self, call: &WebhookCall, form: &[Field<'_>]) -> Result<(), WebhookError> {
        let given = claimed(&call.head)?;
        let authentic = self.signed_urls.iter().any(|url| {
            let mut parts = vec![url.as_bytes(), call.head.path_and_query.as_bytes()];
            parts.extend(form.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]));
            let made = sign::<Hmac<Sha1>>(&self.settings.auth_token, &parts);
            made.is_some_and(|mac| STANDARD.encode(mac).as_bytes().ct_eq(given.as_bytes()).into())
        });
        if authentic { Ok(()) } else { Err(WebhookError::Unauthenticated) }
    }
}

/// The signature that a call claims to have: 20 bytes in Base64.
fn claimed(head: &WebhookHead) -> Result<&str, WebhookError> {
    let given = head.header("x-twilio-signature");
    let shaped = |given: &&str| {
        given.len() == 28 && STANDARD.decode(given).is_ok_and(|signature| signature.len() == 20)
    };
    given.filter(shaped).ok_or(WebhookError::Unauthenticated)
}

fn not_configured() -> Reason {
    tracing::error!(provider = PROVIDER, "routed a message of a channel that has no sender");
    Reason::ProviderUnavailable
}

fn sender_field(sender: &TwilioSender, prefix: &str) -> (&'static str, String) {
    match sender {
        TwilioSender::MessagingService(sid) => ("MessagingServiceSid", sid.clone()),
        TwilioSender::Number(number) => ("From", format!("{prefix}{number}")),
    }
}

/// The URL with and without its port: which of them Twilio signs depends on the product, and its
/// own libraries accept both.
fn spellings(public_url: &BaseUrl) -> Vec<String> {
    let mut spellings = vec![public_url.to_string()];
    if let Ok(url) = Url::parse(public_url.as_str())
        && let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default())
    {
        let (scheme, path) = (url.scheme(), url.path().trim_end_matches('/'));
        spellings.push(format!("{scheme}://{host}{path}"));
        spellings.push(format!("{scheme}://{host}:{port}{path}"));
    }
    spellings
}

#[async_trait]
impl Gateway for TwilioGateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let form = match self.form(&message) {
            Ok(form) => form,
            Err(reason) => return Outcome::Refused(reason),
        };
        let settings = &self.settings;
        let (user, password) = if settings.api_key_secret.is_empty() {
            (&settings.account_sid, &settings.auth_token)
        } else {
            (&settings.api_key_sid, &settings.api_key_secret)
        };
        let request =
            self.client.post(&self.url).basic_auth(user, Some(password.expose())).form(&form);
        match self.client.send(PROVIDER, request).await {
            Ok(answer) => self.outcome(&answer),
            Err(reason) => Outcome::Refused(reason),
        }
    }
}

#[derive(Deserialize)]
struct Created {
    sid: String,
    status: String,
    error_code: Option<i64>,
}

#[derive(Deserialize)]
struct VendorError {
    code: i64,
}

fn refused(answer: &Answer, code: Option<i64>) -> Outcome {
    let reason = code.and_then(reason_of).unwrap_or_else(|| answer.reason());
    answer.log_refusal(PROVIDER, code, reason);
    Outcome::Refused(reason)
}

type Field<'body> = (Cow<'body, str>, Cow<'body, str>);

/// The fields sorted by name, then value, each pair once, as Twilio signs them.
///
/// # Errors
/// [`WebhookError::Unauthenticated`]: with so many fields it is not Twilio's. They are counted
/// before one is decoded.
fn form(body: &[u8]) -> Result<Vec<Field<'_>>, WebhookError> {
    if body.iter().filter(|byte| **byte == b'&').count() >= MOST_FIELDS {
        return Err(WebhookError::Unauthenticated);
    }
    let mut form: Vec<_> = form_urlencoded::parse(body).collect();
    form.sort_unstable();
    form.dedup();
    Ok(form)
}

/// A callback for each status after the first, in any order; source:
/// <https://www.twilio.com/docs/messaging/guides/outbound-message-status-in-status-callbacks>.
impl ReceiptSource for TwilioGateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        claimed(head)?;
        Ok(WebhookAdmission { longest_body: LONGEST_BODY, proven: false })
    }

    /// The fields are part of what is signed, so they are taken apart first, and not looked at.
    fn receipts(&self, call: &WebhookCall) -> Result<Vec<Receipt>, WebhookError> {
        let form = form(&call.body)?;
        self.authenticate(call, &form)?;
        let field = |name| form.iter().find(|(known, _)| known == name).map(|(_, value)| &**value);
        let sid = field("MessageSid").ok_or(WebhookError::Unreadable)?;
        let status = field("MessageStatus").unwrap_or_default();
        let code = field("ErrorCode").and_then(|code| code.parse().ok());
        let receipt = report(status, code).map(|report| Receipt {
            provider: PROVIDER.to_owned(),
            provider_ref: sid.to_owned(),
            report,
        });
        Ok(receipt.into_iter().collect())
    }
}

fn report(status: &str, code: Option<i64>) -> Option<Report> {
    match status {
        "delivered" | "read" => Some(Report::Delivered),
        "undelivered" | "failed" | "canceled" => {
            let reason = code.and_then(reason_of).unwrap_or(Reason::Unknown);
            let word = reason.as_str();
            tracing::info!(provider = PROVIDER, code, reason = word, "a message was not delivered");
            Some(Report::Failed(reason))
        }
        // On the way (accepted, scheduled, queued, sending, sent, partially_delivered), or a
        // message to us (receiving, received).
        _ => None,
    }
}

#[cfg(test)]
#[path = "twilio_tests.rs"]
mod tests;
