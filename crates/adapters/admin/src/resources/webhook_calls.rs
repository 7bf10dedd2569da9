use crate::endpoint::{
    AdminCode, AdminResult, Json, Operation, Parsed, ProjectRequest, Query, get, limit, no_cursor,
    post,
};
use crate::views::{LoggedWebhookCall, Page, ResentEvent, WebhookCall};
use dwar_event::{CallFilter, EventId};
use dwar_kernel::{CallId, EndpointId};
use dwar_operator::Command;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/webhooks/{webhook}/calls", Command::ListWebhookCalls, list)
            .summary("List the calls of a webhook, newest first"),
        post("/projects/{project}/webhooks/{webhook}/test", Command::TestWebhook, test)
            .summary("Call a webhook once, now, and return the outcome")
            .refuses([AdminCode::Conflict]),
        post("/projects/{project}/webhooks/{webhook}/resend", Command::ResendEvent, resend)
            .summary("Send an event again to a webhook that was called with it")
            .refuses([AdminCode::Conflict]),
    ]
}

/// Filter of the calls.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
struct CallsQuery {
    /// Only failed calls.
    #[serde(default)]
    #[param(required = false)]
    failed: bool,
    /// Entries per page, 1 to 500. Default: 50.
    #[param(minimum = 1, maximum = 500)]
    limit: Option<u32>,
    /// `next_cursor` of the previous page.
    #[param(min_length = 1, max_length = 200)]
    cursor: Option<String>,
}

/// The event to send again.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct EventToResend {
    /// `event_id` of a call.
    #[schema(value_type = String)]
    event_id: Parsed<EventId>,
}

async fn list(
    at: ProjectRequest,
    Query(query): Query<CallsQuery>,
) -> AdminResult<Page<LoggedWebhookCall>> {
    let webhook = known(&at).await?;
    let before = query.cursor.as_deref().map(str::parse::<CallId>);
    let before = before.transpose().map_err(|_| no_cursor())?;
    let (filter, limit) = (CallFilter { failed: query.failed, before }, limit(query.limit)?);
    let log = &at.api.manage.endpoint_log;
    // One call more than the limit shows whether there are more.
    let calls = log.calls(&at.by, at.project, webhook, filter, limit + 1).await?;
    Ok(LoggedWebhookCall::page(&calls, limit))
}

async fn test(at: ProjectRequest) -> AdminResult<WebhookCall> {
    let webhook = at.part("webhook")?;
    Ok((&at.api.manage.endpoint_log.test(&at.by, at.project, webhook).await?).into())
}

async fn resend(at: ProjectRequest, Json(body): Json<EventToResend>) -> AdminResult<ResentEvent> {
    let (webhook, Parsed(event)) = (at.part("webhook")?, body.event_id);
    let log = &at.api.manage.endpoint_log;
    log.resend(&at.by, at.project, webhook, &event).await?;
    Ok(ResentEvent::new(webhook, &event))
}

/// The endpoint of the path, if it belongs to the project.
async fn known(at: &ProjectRequest) -> AdminResult<EndpointId> {
    let webhook = at.part("webhook")?;
    Ok(at.api.manage.endpoint_log.endpoint(&at.by, at.project, webhook).await?.id)
}
