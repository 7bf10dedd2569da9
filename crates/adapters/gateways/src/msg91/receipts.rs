use super::{Msg91Gateway, PROVIDER};
use crate::webhook_token::{admit, authenticate};
use crate::wire::{form_field, word};
use dwar_otp::{
    Reason, Receipt, ReceiptSource, Report, WebhookAdmission, WebhookCall, WebhookError,
    WebhookHead,
};
use serde_json::Value;

/// MSG91 names no bound. A report is some 200 bytes of JSON
/// (`msg91.com/help/webhooks/how-can-i-get-the-delivery-reports-on-my-webhook-url`): this is room
/// for a thousand of them, encoded as a form.
const LONGEST_BODY: usize = 512 * 1_024;

/// Reads «Webhook» v2 (a form whose field `data` is JSON) and v3 (flat JSON), and «Webhook (New)»
/// of SMS and WhatsApp as long as its payload keeps `requestId` and `status` (or `eventName`). v4
/// names no request, so nothing can be read from it.
impl ReceiptSource for Msg91Gateway {
    fn provider(&self) -> String {
        PROVIDER.to_owned()
    }

    fn admit(&self, head: &WebhookHead) -> Result<WebhookAdmission, WebhookError> {
        admit(head, &self.settings.webhook_token, LONGEST_BODY)
    }

    fn receipts(&self, call: &WebhookCall) -> Result<Vec<Receipt>, WebhookError> {
        authenticate(&call.head, &self.settings.webhook_token)?;
        let document = document(&call.body).ok_or(WebhookError::Unreadable)?;
        let requests = match &document {
            Value::Array(requests) => requests.as_slice(),
            Value::Object(_) => std::slice::from_ref(&document),
            _ => return Err(WebhookError::Unreadable),
        };
        Ok(requests.iter().flat_map(of_request).collect())
    }
}

/// The JSON of the call: the body itself, or what its field `data` holds.
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

fn of_request(request: &Value) -> Vec<Receipt> {
    let Some(provider_ref) = request.get("requestId").and_then(word) else {
        return Vec::new();
    };
    let reports = match request.get("report") {
        Some(Value::Array(reports)) => reports.as_slice(),
        _ => std::slice::from_ref(request),
    };
    let receipt = |report| {
        let (provider, provider_ref) = (PROVIDER.to_owned(), provider_ref.clone());
        Receipt { provider, provider_ref, report }
    };
    reports.iter().filter_map(report).map(receipt).collect()
}

fn report(entry: &Value) -> Option<Report> {
    let status = ["status", "eventName"].into_iter().find_map(|name| word(entry.get(name)?))?;
    let report = meaning(&status)?;
    match report {
        Report::Failed(Reason::Unknown) => {
            let why = ["failedReason", "failureReason", "reason"];
            let why = why.into_iter().find_map(|name| word(entry.get(name)?));
            Some(Report::Failed(why.map_or(Reason::Unknown, |why| cause(&why))))
        }
        other => Some(other),
    }
}

/// What a status means: the numbers of v2 and v3 (1 delivered, 2 failed, 9 NDNC, 16 and 25
/// rejected, 17 blocked number) and the words of «Webhook (New)». Others are on the way.
fn meaning(status: &str) -> Option<Report> {
    match status.to_ascii_lowercase().as_str() {
        "1" | "delivered" | "read" => Some(Report::Delivered),
        "2" | "failed" | "undelivered" => Some(Report::Failed(Reason::Unknown)),
        "9" | "16" | "17" | "25" | "ndnc" | "rejected" | "blocked" | "blocked number" => {
            Some(Report::Failed(Reason::Blocked))
        }
        _ => None,
    }
}

/// Why WhatsApp failed, where the reason names one of Meta's codes (six digits).
fn cause(why: &str) -> Reason {
    let codes = why.split(|character: char| !character.is_ascii_digit());
    let meaning = |code: &str| match code {
        "131026" => Some(Reason::NotOnChannel),
        "131049" | "131050" | "130472" => Some(Reason::Blocked),
        "130429" | "131048" | "131056" => Some(Reason::ProviderThrottled),
        "131000" | "131016" => Some(Reason::ProviderUnavailable),
        code if code.len() == 6 && code.starts_with("132") => Some(Reason::TemplateRejected),
        _ => None,
    };
    codes.into_iter().find_map(meaning).unwrap_or(Reason::Unknown)
}
