use super::GenericHttpGateway;
use super::rules::{Rule, Words, is_pointer};
use super::settings::{GenericPayload, GenericReceipts, GenericSecretPlace};
use crate::Secret;
use crate::wire::{form_field, object, word_at};
use dwar_otp::{
    Receipt, ReceiptSource, Report, WebhookAdmission, WebhookCall, WebhookError, WebhookHead,
};
use serde_json::Value;
use std::collections::BTreeMap;

const SHORTEST_SECRET: usize = 16;
/// What a setting may allow: the most that any provider is known to send (Meta).
const LONGEST_BODY: usize = 3 * 1_024 * 1_024;

/// The webhook of the settings, checked.
pub(super) struct Reader {
    secret: Secret,
    settings: GenericReceipts,
    delivered: Words,
    failed: Vec<Rule>,
}

impl Reader {
    /// # Errors
    /// A sentence that names the key and what is wrong with it.
    pub(super) fn new(
        settings: &GenericReceipts,
        secrets: &BTreeMap<String, Secret>,
    ) -> Result<Self, String> {
        let wrong = |what: &str| Err(format!("receipts.{what}"));
        let Some(secret) = secrets.get(&settings.secret) else {
            return wrong("secret: there is no secret of that name");
        };
        if secret.expose().len() < SHORTEST_SECRET {
            return wrong("secret: it could be guessed; take 16 characters or more");
        }
        let pointers = [Some(&settings.reference), Some(&settings.status), settings.items.as_ref()];
        if !pointers.into_iter().flatten().all(|pointer| is_pointer(pointer)) {
            return wrong("reference, status and items are JSON pointers, such as /id");
        }
        if settings.field.is_some() && settings.payload != GenericPayload::Form {
            return wrong("field: only forms have fields");
        }
        if settings.failed.iter().any(|rule| rule.status.is_some()) {
            return wrong("failed: a webhook has no HTTP status");
        }
        if !(1..=LONGEST_BODY).contains(&settings.longest_body) {
            return wrong("longest_body: from 1 to 3145728 bytes");
        }
        let rule = |(at, rule): (usize, &_)| Rule::new(rule, Some(&settings.status), at);
        let failed = settings.failed.iter().enumerate().map(rule).collect::<Result<_, _>>();
        Ok(Self {
            secret: secret.clone(),
            delivered: Words::new(&settings.delivered)
                .ok_or("receipts.delivered: without a status nothing ever arrives")?,
            failed: failed.map_err(|what| format!("receipts.failed{what}"))?,
            settings: settings.clone(),
        })
    }

    fn authenticate(&self, head: &WebhookHead) -> Result<(), WebhookError> {
        let token = match &self.settings.secret_in {
            GenericSecretPlace::Query(name) => head.parameter(name),
            GenericSecretPlace::Header(name) => head.header(&name.to_ascii_lowercase()),
        };
        match token {
            Some(token) if self.secret.matches(token) => Ok(()),
            _ => Err(WebhookError::Unauthenticated),
        }
    }

    fn document(&self, call: &WebhookCall) -> Option<Value> {
        match (self.settings.payload, &self.settings.field) {
            (GenericPayload::Json, _) => serde_json::from_slice(&call.body).ok(),
            (GenericPayload::Form, Some(field)) => {
                serde_json::from_str(&form_field(&call.body, field)?).ok()
            }
            (GenericPayload::Form, None) => object(form_urlencoded::parse(&call.body).into_owned()),
            (GenericPayload::Query, _) => object(call.head.query.iter().cloned()),
        }
    }

    fn reports(&self, document: &Value) -> Option<Vec<(String, Report)>> {
        let items = match &self.settings.items {
            Some(items) => document.pointer(items)?.as_array()?.as_slice(),
            None if document.is_object() => std::slice::from_ref(document),
            None => return None,
        };
        Some(items.iter().filter_map(|item| self.report(item)).collect())
    }

    fn report(&self, item: &Value) -> Option<(String, Report)> {
        let reference = word_at(item, &self.settings.reference)?;
        let status = word_at(item, &self.settings.status)?;
        let report = if self.delivered.contain(&status) {
            Report::Delivered
        } else {
            Report::Failed(self.failed.iter().find_map(|rule| rule.judge(None, item))?)
        };
        Some((reference, report))
    }
}

/// Reads what the settings describe; without `receipts` in them nothing is let in.
impl ReceiptSource for GenericHttpGateway {
    fn provider(&self) -> String {
        self.name.clone()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        let reader = self.receipts.as_ref().ok_or(WebhookError::Unauthenticated)?;
        reader.authenticate(head)?;
        Ok(WebhookAdmission { longest_body: reader.settings.longest_body, proven: true })
    }

    fn receipts(&self, call: &WebhookCall) -> Result<Vec<Receipt>, WebhookError> {
        let reader = self.receipts.as_ref().ok_or(WebhookError::Unauthenticated)?;
        reader.authenticate(&call.head)?;
        let document = reader.document(call).ok_or(WebhookError::Unreadable)?;
        let reports = reader.reports(&document).ok_or(WebhookError::Unreadable)?;
        let receipt = |(provider_ref, report)| {
            let provider = self.name.clone();
            Receipt { provider, provider_ref, report }
        };
        Ok(reports.into_iter().map(receipt).collect())
    }
}
