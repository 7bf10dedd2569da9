//! Any provider with an HTTP interface, by configuration alone.

mod receipts;
mod request;
mod rules;
mod settings;
mod template;

pub use settings::{
    GenericAnswer, GenericHttpSettings, GenericMatch, GenericMethod, GenericPayload,
    GenericReceipts, GenericRequest, GenericRule, GenericSecretPlace,
};

use crate::HttpClient;
use crate::http_client::Answer;
use crate::wire::word_at;
use async_trait::async_trait;
use dwar_otp::{Gateway, Message, Outcome, Reason};
use receipts::Reader;
use request::Call;
use rules::{Rule, Words, is_pointer};
use serde_json::Value;
use std::fmt;

const LONGEST_NAME: usize = 32;

/// The settings describe no provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("gateway {gateway:?}: {what}")]
pub struct InvalidGateway {
    pub gateway: String,
    /// The key and what is wrong with it; never a value.
    pub what: String,
}

/// Hands messages to a provider that is described by [`GenericHttpSettings`], and reads its
/// webhook.
///
/// What comes from a message cannot change the shape of a request: forms, queries and JSON are
/// built from their values, and values in paths and headers are percent-encoded.
pub struct GenericHttpGateway {
    name: String,
    call: Call,
    answer: Reading,
    receipts: Option<Reader>,
    client: HttpClient,
}

/// How an answer is read, checked.
struct Reading {
    statuses: Vec<u16>,
    success: Option<(String, Words)>,
    reference: Option<String>,
    reasons: Vec<Rule>,
}

impl GenericHttpGateway {
    /// A gateway for the provider that the settings describe.
    ///
    /// # Errors
    /// [`InvalidGateway`] says which key is wrong, and why.
    pub fn new(settings: &GenericHttpSettings, client: HttpClient) -> Result<Self, InvalidGateway> {
        let invalid = |what| InvalidGateway { gateway: settings.name.clone(), what };
        Self::build(settings, client).map_err(invalid)
    }

    fn build(settings: &GenericHttpSettings, client: HttpClient) -> Result<Self, String> {
        let named = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
        let name = &settings.name;
        if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(named) {
            return Err("name: lower-case letters, digits, - and _, at most 32".to_owned());
        }
        if let Some((empty, _)) = settings.secrets.iter().find(|(_, it)| it.expose().is_empty()) {
            return Err(format!("secrets.{empty}: it is empty"));
        }
        if settings.receipts.is_some() && settings.answer.reference.is_none() {
            return Err("answer.reference: receipts cannot be matched without it".to_owned());
        }
        let receipts = settings.receipts.as_ref();
        Ok(Self {
            name: name.clone(),
            call: Call::new(settings)?,
            answer: Reading::new(&settings.answer)?,
            receipts: receipts.map(|it| Reader::new(it, &settings.secrets)).transpose()?,
            client,
        })
    }

    fn judge(&self, answer: &Answer) -> Outcome {
        let text = || Value::String(String::from_utf8_lossy(answer.body()).into_owned());
        let body = answer.json().unwrap_or_else(text);
        if !self.answer.says_success(answer, &body) {
            let reason = self.answer.reason(answer, &body);
            answer.log_refusal(&self.name, None, reason);
            return Outcome::Refused(reason);
        }
        let reference = self.answer.reference.as_ref();
        let provider_ref = reference.and_then(|pointer| word_at(&body, pointer));
        let awaits_receipt = self.receipts.is_some() && provider_ref.is_some();
        Outcome::Accepted { provider_ref, awaits_receipt }
    }
}

impl Reading {
    fn new(settings: &GenericAnswer) -> Result<Self, String> {
        let success = match &settings.success {
            Some(GenericMatch { pointer, .. }) if !is_pointer(pointer) => {
                return Err("answer.success: pointer is a JSON pointer, such as /ok".to_owned());
            }
            Some(GenericMatch { pointer, values }) => {
                let words = Words::new(values);
                Some((pointer.clone(), words.ok_or("answer.success: it needs values")?))
            }
            None => None,
        };
        if settings.reference.as_deref().is_some_and(|pointer| !is_pointer(pointer)) {
            return Err("answer.reference: it is a JSON pointer, such as /id".to_owned());
        }
        let rule = |(at, rule)| Rule::new(rule, None, at);
        let reasons = settings.reasons.iter().enumerate().map(rule).collect::<Result<_, _>>();
        Ok(Self {
            statuses: settings.statuses.clone(),
            success,
            reference: settings.reference.clone(),
            reasons: reasons.map_err(|what| format!("answer.reasons{what}"))?,
        })
    }

    fn says_success(&self, answer: &Answer, body: &Value) -> bool {
        let status_fits = if self.statuses.is_empty() {
            answer.is_success()
        } else {
            self.statuses.contains(&answer.status())
        };
        status_fits
            && self.success.as_ref().is_none_or(|(pointer, words)| {
                word_at(body, pointer).is_some_and(|word| words.contain(&word))
            })
    }

    fn reason(&self, answer: &Answer, body: &Value) -> Reason {
        let status = Some(answer.status());
        let rule = self.reasons.iter().find_map(|rule| rule.judge(status, body));
        rule.unwrap_or_else(|| answer.reason())
    }
}

impl fmt::Debug for GenericHttpGateway {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "GenericHttpGateway({})", self.name)
    }
}

/// A value that would bend the path of the address is the fault of the project's own texts, and
/// refused as [`Reason::TemplateRejected`] without a call.
#[async_trait]
impl Gateway for GenericHttpGateway {
    fn provider(&self) -> String {
        self.name.clone()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let Some(call) = self.call.fill(&self.client, &message) else {
            tracing::warn!(provider = self.name, otp = %message.otp, "no request can be made of it");
            return Outcome::Refused(Reason::TemplateRejected);
        };
        match self.client.send(&self.name, call).await {
            Ok(answer) => self.judge(&answer),
            Err(reason) => Outcome::Refused(reason),
        }
    }
}

#[cfg(test)]
mod examples_tests;
#[cfg(test)]
mod injection_tests;
#[cfg(test)]
mod tests;
