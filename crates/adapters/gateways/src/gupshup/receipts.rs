use super::{GupshupGateway, PROVIDER};
use crate::webhook_token::{admit, authenticate};
use crate::wire::{form_field, word};
use dwar_otp::{
    Reason, Receipt, ReceiptSource, Report, WebhookAdmission, WebhookCall, WebhookError,
    WebhookHead,
};
use serde_json::Value;

/// At most 20 reports to a call (`docs.gupshup.io/docs/real-time-delivery-reports`), each well
/// under 1 KiB of JSON, encoded as a form at the worst.
const LONGEST_BODY: usize = 64 * 1_024;

/// Reads both kinds of callback: one report in the query of a `GET` (the default), or up to 20 in
/// the JSON array of a `POST`, bare or as the form field or member `response`.
impl ReceiptSource for GupshupGateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        admit(head, &self.settings.webhook_token, LONGEST_BODY)
    }

    fn receipts(&self, call: &WebhookCall) -> Result<Vec<Receipt>, WebhookError> {
        authenticate(&call.head, &self.settings.webhook_token)?;
        if call.body.is_empty() {
            let field = |name: &str| call.head.parameter(name).map(str::to_owned);
            field("externalId").ok_or(WebhookError::Unreadable)?;
            return Ok(receipt(field).into_iter().collect());
        }
        let events = events(&call.body).ok_or(WebhookError::Unreadable)?;
        Ok(events.iter().filter_map(|event| receipt(|name| word(event.get(name)?))).collect())
    }
}

fn events(body: &[u8]) -> Option<Vec<Value>> {
    let document: Option<Value> = serde_json::from_slice(body).ok();
    match document.or_else(|| serde_json::from_str(&form_field(body, "response")?).ok())? {
        Value::Array(events) => Some(events),
        Value::Object(mut object) => match object.remove("response") {
            Some(Value::Array(events)) => Some(events),
            _ => None,
        },
        _ => None,
    }
}

fn receipt(field: impl Fn(&str) -> Option<String>) -> Option<Receipt> {
    let provider_ref = field("externalId")?;
    let status = field("status").or_else(|| field("eventType"))?;
    let report = match status.to_ascii_uppercase().as_str() {
        "SUCCESS" | "DELIVERED" => Report::Delivered,
        "FAIL" | "FAILED" | "FAILURE" | "UNDELIVERED" => {
            let why = [field("cause"), field("errCode")];
            let reason = why.into_iter().flatten().find_map(|why| cause(&why));
            Report::Failed(reason.unwrap_or(Reason::Unknown))
        }
        _ => return None,
    };
    Some(Receipt { provider: PROVIDER.to_owned(), provider_ref, report })
}

/// What the cause of a failed delivery, or its code, means.
fn cause(why: &str) -> Option<Reason> {
    match why.to_ascii_uppercase().as_str() {
        "ABSENT_SUBSCRIBER" | "001" => Some(Reason::Unknown),
        "UNKNOWN_SUBSCRIBER" | "003" => Some(Reason::RejectedNumber),
        "CALL_BARRED"
        | "002"
        | "DND_FAIL"
        | "006"
        | "BLOCKED"
        | "007"
        | "DND_TIMEOUT"
        | "008"
        | "OUTSIDE_WORKING_HOURS"
        | "009" => Some(Reason::Blocked),
        "SERVICE_DOWN" | "004" | "SYSTEM_FAILURE" | "005" => Some(Reason::ProviderUnavailable),
        _ => None,
    }
}
