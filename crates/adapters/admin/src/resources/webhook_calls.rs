use crate::endpoint::admin_request::ProjectRequest;
use crate::endpoint::answer::Answered;
use crate::endpoint::body::{Nothing, Parsed};
use crate::endpoint::operation::{Operation, get, post};
use crate::endpoint::query::{limit, no_cursor};
use crate::views::{Page, id, instant};
use dwar_event::{Call, CallFilter, EventId, LoggedCall};
use dwar_kernel::{CallId, EndpointId};
use dwar_operator::Command;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get(
            "/projects/{project}/webhooks/{webhook}/calls",
            Command::ListWebhookCalls,
            "What an address was told, newest first",
        )
        .to(list),
        post(
            "/projects/{project}/webhooks/{webhook}/test",
            Command::TestWebhook,
            "Calls an address once, now, and says what came of it",
        )
        .to(test),
        post(
            "/projects/{project}/webhooks/{webhook}/resend",
            Command::ResendEvent,
            "Sends an event again to an address that was called with it",
        )
        .to(resend),
    ]
}

/// Which calls.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// Only those that were not taken.
    #[serde(default)]
    #[param(required = false)]
    failed: bool,
    /// Entries at most, 1 to 500; 50 without.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// The `next_cursor` of the answer before.
    cursor: Option<String>,
}

/// A call that was tried, and what came of it.
#[derive(Serialize, ToSchema)]
struct WebhookCall {
    #[schema(format = "uuid")]
    call_id: String,
    /// The `webhook-id` of what was told.
    event_id: String,
    /// The kind of event.
    event: String,
    /// 1 is the first of a series; sending again begins another.
    number: u32,
    #[schema(format = "date-time")]
    at: String,
    took_ms: u64,
    /// Whether it was taken.
    taken: bool,
    /// What was answered, if anything.
    status: Option<u16>,
    /// Why it was not taken: `forbidden`, `timed_out`, `unresolved`, `connection_refused`, `tls`,
    /// `unreachable`, `status` or `unsigned`.
    failure: Option<String>,
    /// When the next one of the series is due.
    #[schema(format = "date-time")]
    next_at: Option<String>,
}

/// A call on record.
#[derive(Serialize, ToSchema)]
struct LoggedWebhookCall {
    call: WebhookCall,
    /// Whether its event can be sent again.
    on_record: bool,
}

/// What is to be sent again.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EventToResend {
    /// The `event_id` of a call.
    #[schema(value_type = String)]
    event_id: Parsed<EventId>,
}

/// What goes out with what else is due.
#[derive(Serialize, ToSchema)]
struct ResentEvent {
    #[schema(format = "uuid")]
    webhook_id: String,
    event_id: String,
    queued: bool,
}

async fn list(at: ProjectRequest, wanted: Wanted, _: Nothing) -> Answered<Page<LoggedWebhookCall>> {
    let webhook = known(&at).await?;
    let before = wanted.cursor.as_deref().map(str::parse::<CallId>);
    let before = before.transpose().map_err(|_| no_cursor())?;
    let (filter, limit) = (CallFilter { failed: wanted.failed, before }, limit(wanted.limit)?);
    let log = &at.api.manage.endpoint_log;
    // One more than is shown tells whether there are more.
    let calls = log.calls(&at.by, at.project, webhook, filter, limit + 1).await?;
    Ok(Page::cut(&calls, limit, |logged| id(logged.call.id), logged))
}

async fn test(at: ProjectRequest, _: Nothing, _: Nothing) -> Answered<WebhookCall> {
    let webhook = at.part("webhook")?;
    Ok(view(&at.api.manage.endpoint_log.test(&at.by, at.project, webhook).await?))
}

async fn resend(at: ProjectRequest, _: Nothing, body: EventToResend) -> Answered<ResentEvent> {
    let (webhook, Parsed(event)) = (at.part("webhook")?, body.event_id);
    let log = &at.api.manage.endpoint_log;
    log.resend(&at.by, at.project, webhook, &event).await?;
    Ok(ResentEvent { webhook_id: id(webhook), event_id: id(event), queued: true })
}

/// The address of the path, if the project has it.
async fn known(at: &ProjectRequest) -> Answered<EndpointId> {
    let webhook = at.part("webhook")?;
    Ok(at.api.manage.endpoint_log.endpoint(&at.by, at.project, webhook).await?.id)
}

fn logged(LoggedCall { call, on_record }: &LoggedCall) -> LoggedWebhookCall {
    LoggedWebhookCall { call: view(call), on_record: *on_record }
}

fn view(call: &Call) -> WebhookCall {
    let (status, failure) = match call.outcome {
        Ok(status) => (Some(status), None),
        Err(cause) => {
            let (word, status) = cause.word();
            (status, Some(word.to_owned()))
        }
    };
    WebhookCall {
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
