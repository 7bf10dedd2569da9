//! Any provider with an HTTP interface, described only by configuration.

mod receipts;
mod request;
mod rules;
mod settings;
mod signature;
mod template;

pub use settings::GenericHttpSettings;

use crate::HttpClient;
use crate::http_client::Answer;
use crate::vendor::Vendor;
use crate::wire::word_at;
use dwar_otp::{
    Channel, Message, Reason, Report, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use request::RequestTemplate;
use reqwest::RequestBuilder;

const LONGEST_NAME: usize = 32;

/// The settings are invalid. The message names the gateway, the key and the problem, but never a
/// value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("gateway {0:?}: {1}")]
pub struct InvalidGateway(String, String);

/// A provider described by checked [`GenericHttpSettings`].
///
/// The values of a message cannot change the structure of a request: forms, queries and JSON are
/// built from their values, and values in paths and headers are percent-encoded.
pub struct GenericHttp {
    settings: GenericHttpSettings,
    request: RequestTemplate,
}

impl GenericHttp {
    /// Checks the settings and makes the provider.
    ///
    /// # Errors
    /// [`InvalidGateway`] says which key is wrong, and why.
    pub fn new(mut settings: GenericHttpSettings) -> Result<Self, InvalidGateway> {
        if let Some(receipts) = &mut settings.receipts {
            for rule in &mut receipts.failed {
                rule.pointer.get_or_insert_with(|| receipts.status.clone());
            }
        }
        match check(&settings).and_then(|()| RequestTemplate::new(&settings)) {
            Ok(request) => Ok(Self { settings, request }),
            Err(what) => Err(InvalidGateway(settings.name, what)),
        }
    }
}

fn check(settings: &GenericHttpSettings) -> Result<(), String> {
    let named = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_');
    let GenericHttpSettings { name, secrets, answer, receipts, .. } = settings;
    if name.is_empty() || name.len() > LONGEST_NAME || !name.bytes().all(named) {
        return Err("name: lower-case letters, digits, - and _, at most 32".to_owned());
    }
    if let Some((empty, _)) = secrets.iter().find(|(_, secret)| secret.is_empty()) {
        return Err(format!("secrets.{empty}: it is empty"));
    }
    if receipts.is_some() && answer.reference.is_none() {
        return Err("answer.reference: receipts cannot be matched without it".to_owned());
    }
    answer.check()?;
    receipts.as_ref().map_or(Ok(()), |receipts| receipts.check(secrets))
}

impl Vendor for GenericHttp {
    fn name(&self) -> &str {
        &self.settings.name
    }

    fn address(&self) -> Option<&str> {
        Some(&self.settings.request.url)
    }

    /// A value that would change the path of the address is a fault of the project's own texts:
    /// [`Reason::TemplateRejected`].
    fn call(&self, client: &HttpClient, message: &Message) -> Result<RequestBuilder, Reason> {
        self.request.fill(client, message).ok_or_else(|| {
            let provider = self.name();
            tracing::warn!(provider, otp = %message.otp, "no request can be made of it");
            Reason::TemplateRejected
        })
    }

    fn judge(&self, _: Channel, answer: &Answer) -> Result<Option<String>, Reason> {
        let rules = &self.settings.answer;
        if !rules.says_success(answer) {
            return Err(answer.refused(self.name(), None, rules.reason(answer)));
        }
        Ok(rules.reference.as_ref().and_then(|pointer| word_at(&answer.body, pointer)))
    }

    fn reports(&self) -> bool {
        self.settings.receipts.is_some()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        let receipts = self.settings.receipts.as_ref().ok_or(WebhookError::Unauthenticated)?;
        receipts.admit(head, &self.settings.secrets)
    }

    fn is_signed(&self, call: &WebhookCall) -> bool {
        let receipts = self.settings.receipts.as_ref();
        receipts.is_some_and(|receipts| receipts.is_signed(call, &self.settings.secrets))
    }

    fn read(&self, call: &WebhookCall) -> Option<Vec<(String, Report)>> {
        self.settings.receipts.as_ref()?.read(self.name(), call)
    }
}

#[cfg(test)]
mod examples_tests;
#[cfg(test)]
mod injection_tests;
#[cfg(test)]
mod signature_tests;
#[cfg(test)]
mod tests;
