use super::rules::{check, is_one_of, is_pointer};
use super::settings::{GenericPayload, GenericReceipts, GenericSecretPlace};
use crate::Secret;
use crate::vendor::{Entry, MismatchedEntry, reports_of};
use crate::webhook_token::judge;
use crate::wire::{form_field, object, word_at};
use dwar_otp::{Report, WebhookAdmission, WebhookCall, WebhookError, WebhookHead};
use serde_json::Value;
use std::collections::BTreeMap;

const SHORTEST_SECRET: usize = 16;
/// Largest body that a setting may allow: the most that any provider is known to send (Meta).
const LONGEST_BODY: usize = 3 * 1_024 * 1_024;

impl GenericReceipts {
    /// # Errors
    /// A sentence that names the key and the problem.
    pub(super) fn check(&self, secrets: &BTreeMap<String, Secret>) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("receipts.{what}"));
        let Some(secret) = secrets.get(&self.secret) else {
            return wrong("secret: there is no secret of that name");
        };
        if secret.expose().len() < SHORTEST_SECRET {
            return wrong("secret: it could be guessed; take 16 characters or more");
        }
        match (&self.secret_in, &self.signature) {
            (Some(_), None) => {}
            (None, Some(signature)) => signature
                .check(self.payload)
                .map_err(|what| format!("receipts.signature.{what}"))?,
            _ => {
                return wrong("secret: set either secret_in or signature, not both");
            }
        }
        let pointers = [Some(&self.reference), Some(&self.status), self.items.as_ref()];
        if !pointers.into_iter().flatten().all(|pointer| is_pointer(pointer)) {
            return wrong("reference, status and items are JSON pointers, such as /id");
        }
        if self.field.is_some() && self.payload != GenericPayload::Form {
            return wrong("field: only forms have fields");
        }
        if self.failed.iter().any(|rule| rule.status.is_some()) {
            return wrong("failed: a webhook has no HTTP status");
        }
        if !(1..=LONGEST_BODY).contains(&self.longest_body) {
            return wrong("longest_body: from 1 to 3145728 bytes");
        }
        if self.delivered.is_empty() {
            return wrong("delivered: without a status no message counts as delivered");
        }
        check("receipts.failed", &self.failed)
    }

    pub(super) fn admit(
        &self,
        head: &WebhookHead,
        secrets: &BTreeMap<String, Secret>,
    ) -> Result<WebhookAdmission, WebhookError> {
        let token = match (&self.secret_in, &self.signature) {
            (Some(GenericSecretPlace::Query(name)), _) => head.parameter(name),
            (Some(GenericSecretPlace::Header(name)), _) => head.header(&name.to_ascii_lowercase()),
            (None, Some(signature)) if signature.claimed(head).is_some() => {
                return Ok(WebhookAdmission { longest_body: self.longest_body, proven: false });
            }
            (None, _) => None,
        };
        let secret = secrets.get(&self.secret).ok_or(WebhookError::Unauthenticated)?;
        judge(token, secret, self.longest_body)
    }

    pub(super) fn is_signed(&self, call: &WebhookCall, secrets: &BTreeMap<String, Secret>) -> bool {
        let signature = self.signature.as_ref().zip(secrets.get(&self.secret));
        signature.is_some_and(|(signature, secret)| signature.holds(call, secret))
    }

    /// The reports of an authentic call of this provider; `None` if none of it can be parsed.
    pub(super) fn read(&self, provider: &str, call: &WebhookCall) -> Option<Vec<(String, Report)>> {
        let document = self.document(call)?;
        let items = match &self.items {
            Some(items) => document.pointer(items)?.as_array()?.as_slice(),
            None if document.is_object() => std::slice::from_ref(&document),
            None => return None,
        };
        reports_of(provider, items.iter().map(|item| self.report(item)))
    }

    fn document(&self, call: &WebhookCall) -> Option<Value> {
        match (self.payload, &self.field) {
            (GenericPayload::Json, _) => serde_json::from_slice(&call.body).ok(),
            (GenericPayload::Form, Some(field)) => {
                serde_json::from_str(&form_field(&call.body, field)?).ok()
            }
            (GenericPayload::Form, None) => object(form_urlencoded::parse(&call.body).into_owned()),
            (GenericPayload::Query, _) => object(call.head.query.iter().cloned()),
        }
    }

    fn report(&self, item: &Value) -> Entry {
        let reference = word_at(item, &self.reference).ok_or(MismatchedEntry)?;
        let status = word_at(item, &self.status).ok_or(MismatchedEntry)?;
        if is_one_of(&status, &self.delivered) {
            return Ok(Some((reference, Report::Delivered)));
        }
        let reason = self.failed.iter().find_map(|rule| rule.judge(None, item));
        Ok(reason.map(|reason| (reference, Report::Failed(reason))))
    }
}
