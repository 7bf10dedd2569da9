use crate::endpoint::admin_request::ProjectRequest;
use crate::endpoint::answer::Answered;
use crate::endpoint::body::Nothing;
use crate::endpoint::operation::{Operation, delete, get, post};
use crate::endpoint::query::Paging;
use crate::views::{Page, id, instant};
use dwar_event::Endpoint;
use dwar_operator::Command;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/projects/{project}/webhooks", Command::ListWebhooks, "Where events go, oldest first")
            .to(list),
        post(
            "/projects/{project}/webhooks",
            Command::AddWebhook,
            "A new address for events; its secret is in this one answer",
        )
        .makes()
        .to(add),
        post(
            "/projects/{project}/webhooks/{webhook}/rotate-secret",
            Command::RotateWebhookSecret,
            "A new secret; the old one signs along for a day",
        )
        .to(rotate),
        post(
            "/projects/{project}/webhooks/{webhook}/enable",
            Command::EnableWebhook,
            "Switches on what was switched off for failing",
        )
        .to(enable),
        delete(
            "/projects/{project}/webhooks/{webhook}",
            Command::RemoveWebhook,
            "Removes an address, and what it has not been told yet",
        )
        .to(remove),
    ]
}

/// An address that events go to.
#[derive(Serialize, ToSchema)]
struct Webhook {
    #[schema(format = "uuid")]
    webhook_id: String,
    #[schema(format = "uri")]
    url: String,
    /// Whether events hold whole phone numbers instead of masked ones.
    full_phone: bool,
    enabled: bool,
    /// In a row.
    failures: u32,
    #[schema(format = "date-time")]
    failing_since: Option<String>,
    #[schema(format = "date-time")]
    disabled_at: Option<String>,
    #[schema(format = "date-time")]
    created_at: String,
}

/// An address for events.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct NewWebhook {
    /// `https://`, of a public host.
    #[schema(format = "uri")]
    url: String,
    /// Whether events hold whole phone numbers instead of masked ones.
    #[serde(default)]
    full_phone: bool,
}

/// An address that was just added.
#[derive(Serialize, ToSchema)]
struct AddedWebhook {
    webhook: Webhook,
    /// Shown this once.
    secret: String,
}

/// A secret that was just made.
#[derive(Serialize, ToSchema)]
struct WebhookSecret {
    #[schema(format = "uuid")]
    webhook_id: String,
    /// Shown this once.
    secret: String,
}

/// An address that was switched on.
#[derive(Serialize, ToSchema)]
struct EnabledWebhook {
    #[schema(format = "uuid")]
    webhook_id: String,
    enabled: bool,
}

/// An address that was removed.
#[derive(Serialize, ToSchema)]
struct RemovedWebhook {
    #[schema(format = "uuid")]
    webhook_id: String,
    removed: bool,
}

async fn list(at: ProjectRequest, paging: Paging, _: Nothing) -> Answered<Page<Webhook>> {
    let endpoints = at.api.manage.endpoints.list(&at.by, at.project).await?;
    Page::of(&endpoints, &paging, |endpoint| endpoint.id, view)
}

async fn add(at: ProjectRequest, _: Nothing, body: NewWebhook) -> Answered<AddedWebhook> {
    let url = body.url.trim();
    let added = at.api.manage.endpoints.add(&at.by, at.project, url, body.full_phone).await;
    let (endpoint, secret) = added?;
    Ok(AddedWebhook { webhook: view(&endpoint), secret: secret.expose().to_string() })
}

async fn rotate(at: ProjectRequest, _: Nothing, _: Nothing) -> Answered<WebhookSecret> {
    let webhook = at.part("webhook")?;
    let secret = at.api.manage.endpoints.rotate_secret(&at.by, at.project, webhook).await?;
    Ok(WebhookSecret { webhook_id: id(webhook), secret: secret.expose().to_string() })
}

async fn enable(at: ProjectRequest, _: Nothing, _: Nothing) -> Answered<EnabledWebhook> {
    let webhook = at.part("webhook")?;
    at.api.manage.endpoints.enable(&at.by, at.project, webhook).await?;
    Ok(EnabledWebhook { webhook_id: id(webhook), enabled: true })
}

async fn remove(at: ProjectRequest, _: Nothing, _: Nothing) -> Answered<RemovedWebhook> {
    let webhook = at.part("webhook")?;
    at.api.manage.endpoints.remove(&at.by, at.project, webhook).await?;
    Ok(RemovedWebhook { webhook_id: id(webhook), removed: true })
}

fn view(endpoint: &Endpoint) -> Webhook {
    Webhook {
        webhook_id: id(endpoint.id),
        url: endpoint.url.clone(),
        full_phone: endpoint.full_phone,
        enabled: endpoint.disabled_at.is_none(),
        failures: endpoint.failing.map_or(0, |failing| failing.failures),
        failing_since: endpoint.failing.map(|failing| instant(failing.since)),
        disabled_at: endpoint.disabled_at.map(instant),
        created_at: instant(endpoint.created_at),
    }
}
