use super::page::Page;
use super::text::{id, instant};
use dwar_event::{EndpointCall, EventId, LoggedCall};
use dwar_kernel::EndpointId;
use serde::Serialize;
use utoipa::ToSchema;

/// A call of a webhook and its outcome.
#[derive(Serialize, ToSchema)]
pub struct WebhookCall {
    #[schema(format = "uuid")]
    call_id: String,
    /// `webhook-id` of the event.
    event_id: String,
    /// The kind of event.
    event: String,
    /// Number of the attempt, from 1. Sending an event again starts at 1.
    number: u32,
    #[schema(format = "date-time")]
    at: String,
    took_ms: u64,
    /// Whether the endpoint accepted it.
    taken: bool,
    /// HTTP status of the answer; null without an answer.
    status: Option<u16>,
    /// Why it failed: `forbidden`, `timed_out`, `unresolved`, `connection_refused`, `tls`,
    /// `unreachable`, `status` or `unsigned`.
    failure: Option<String>,
    /// When the next attempt is due.
    #[schema(format = "date-time")]
    next_at: Option<String>,
}

/// A call from the log.
#[derive(Serialize, ToSchema)]
pub struct LoggedWebhookCall {
    call: WebhookCall,
    /// Whether its event can be sent again.
    on_record: bool,
}

/// An event that will be sent again with the next deliveries.
#[derive(Serialize, ToSchema)]
pub struct ResentEvent {
    #[schema(format = "uuid")]
    webhook_id: String,
    event_id: String,
    queued: bool,
}

impl From<&EndpointCall> for WebhookCall {
    fn from(call: &EndpointCall) -> Self {
        let (status, failure) = match call.outcome {
            Ok(status) => (Some(status), None),
            Err(cause) => {
                let (word, status) = cause.word();
                (status, Some(word.to_owned()))
            }
        };
        Self {
            call_id: id(call.id),
            event_id: call.event.clone(),
            event: id(call.kind),
            number: call.number,
            at: instant(call.at),
            took_ms: u64::try_from(call.took.as_millis()).unwrap_or(u64::MAX),
            taken: call.outcome.is_ok(),
            status,
            failure,
            next_at: call.again.map(instant),
        }
    }
}

impl From<&LoggedCall> for LoggedWebhookCall {
    fn from(LoggedCall { call, on_record }: &LoggedCall) -> Self {
        Self { call: call.into(), on_record: *on_record }
    }
}

impl LoggedWebhookCall {
    /// Makes a page of the first `limit` calls. The caller reads one more, which shows whether
    /// there are more.
    pub fn page(calls: &[LoggedCall], limit: u32) -> Page<Self> {
        Page::cut(calls, limit, |logged| id(logged.call.id), |logged| logged.into())
    }
}

impl ResentEvent {
    /// Makes the view of an event that is sent to an endpoint again.
    pub fn new(endpoint: EndpointId, event: &EventId) -> Self {
        Self { webhook_id: id(endpoint), event_id: id(event), queued: true }
    }
}
