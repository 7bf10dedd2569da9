use crate::endpoint::{
    AdminCode, AdminResult, Json, Operation, Paging, ProjectRequest, Query, delete, get, post,
    post_created,
};
use crate::views::{AddedWebhook, EnabledWebhook, Page, RemovedWebhook, Webhook, WebhookSecret};
use dwar_kernel::EndpointId;
use dwar_operator::Command;
use serde::Deserialize;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/webhooks", Command::ListWebhooks, list)
            .summary("List webhooks, oldest first"),
        post_created("/projects/{project}/webhooks", Command::AddWebhook, add)
            .summary("Add a webhook; only this answer holds its secret")
            .refuses([AdminCode::Conflict]),
        post(
            "/projects/{project}/webhooks/{webhook}/rotate-secret",
            Command::RotateWebhookSecret,
            rotate,
        )
        .summary("Rotate the secret of a webhook; the old secret also signs for a day"),
        post("/projects/{project}/webhooks/{webhook}/enable", Command::EnableWebhook, enable)
            .summary("Enable a webhook that was disabled after failures"),
        delete("/projects/{project}/webhooks/{webhook}", Command::RemoveWebhook, remove)
            .summary("Remove a webhook and its undelivered events"),
    ]
}

/// A webhook to add.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewWebhook {
    /// An `https://` URL of a public host.
    #[schema(format = "uri")]
    url: String,
    /// Whether events hold full phone numbers instead of masked ones.
    #[serde(default)]
    full_phone: bool,
}

async fn list(at: ProjectRequest, Query(paging): Query<Paging>) -> AdminResult<Page<Webhook>> {
    let endpoints = at.api.manage.endpoints.list(&at.by, at.project).await?;
    let now = at.api.tools.now();
    Page::of(&endpoints, &paging, |endpoint| endpoint.id, |endpoint| Webhook::new(endpoint, now))
}

async fn add(at: ProjectRequest, Json(body): Json<NewWebhook>) -> AdminResult<AddedWebhook> {
    let added = at.api.manage.endpoints.add(&at.by, at.project, &body.url, body.full_phone).await;
    let (endpoint, secret) = added?;
    Ok(AddedWebhook::new(&endpoint, &secret))
}

async fn rotate(at: ProjectRequest) -> AdminResult<WebhookSecret> {
    let webhook = at.part("webhook")?;
    let secret = at.api.manage.endpoints.rotate_secret(&at.by, at.project, webhook).await?;
    Ok(WebhookSecret::new(webhook, &secret))
}

async fn enable(at: ProjectRequest) -> AdminResult<EnabledWebhook> {
    let webhook: EndpointId = at.part("webhook")?;
    at.api.manage.endpoints.enable(&at.by, at.project, webhook).await?;
    Ok(webhook.into())
}

async fn remove(at: ProjectRequest) -> AdminResult<RemovedWebhook> {
    let webhook: EndpointId = at.part("webhook")?;
    at.api.manage.endpoints.remove(&at.by, at.project, webhook).await?;
    Ok(webhook.into())
}
