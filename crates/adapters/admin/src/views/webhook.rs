use super::text::{id, instant};
use dwar_event::Endpoint;
use dwar_kernel::{EndpointId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// An address that receives events.
#[derive(Serialize, ToSchema)]
pub struct Webhook {
    #[schema(format = "uuid")]
    webhook_id: String,
    #[schema(format = "uri")]
    url: String,
    /// Whether events hold full phone numbers instead of masked ones.
    full_phone: bool,
    enabled: bool,
    /// Consecutive failures.
    failures: u32,
    #[schema(format = "date-time")]
    failing_since: Option<String>,
    #[schema(format = "date-time")]
    disabled_at: Option<String>,
    /// Until when the previous secret also signs; null if there is none.
    #[schema(format = "date-time")]
    previous_secret_until: Option<String>,
    #[schema(format = "date-time")]
    created_at: String,
}

/// A new webhook with its secret.
#[derive(Serialize, ToSchema)]
pub struct AddedWebhook {
    webhook: Webhook,
    /// Shown only once.
    secret: String,
}

/// A new secret of a webhook.
#[derive(Serialize, ToSchema)]
pub struct WebhookSecret {
    #[schema(format = "uuid")]
    webhook_id: String,
    /// Shown only once.
    secret: String,
}

/// A webhook that was enabled.
#[derive(Serialize, ToSchema)]
pub struct EnabledWebhook {
    #[schema(format = "uuid")]
    webhook_id: String,
    enabled: bool,
}

/// A webhook that was removed.
#[derive(Serialize, ToSchema)]
pub struct RemovedWebhook {
    #[schema(format = "uuid")]
    webhook_id: String,
    removed: bool,
}

impl Webhook {
    /// Makes the view of an endpoint as it is at `now`.
    pub fn new(endpoint: &Endpoint, now: Timestamp) -> Self {
        Self {
            webhook_id: id(endpoint.id),
            url: endpoint.url.clone(),
            full_phone: endpoint.full_phone,
            enabled: endpoint.disabled_at.is_none(),
            failures: endpoint.failing.map_or(0, |failing| failing.failures),
            failing_since: endpoint.failing.map(|failing| instant(failing.since)),
            disabled_at: endpoint.disabled_at.map(instant),
            previous_secret_until: endpoint.secret.previous_until(now).map(instant),
            created_at: instant(endpoint.created_at),
        }
    }
}

impl AddedWebhook {
    /// Makes the view of a new endpoint with its first secret.
    pub fn new(endpoint: &Endpoint, secret: &dwar_event::WebhookSecret) -> Self {
        let webhook = Webhook::new(endpoint, endpoint.created_at);
        Self { webhook, secret: secret.expose() }
    }
}

impl WebhookSecret {
    /// Makes the view of an endpoint's new secret.
    pub fn new(endpoint: EndpointId, secret: &dwar_event::WebhookSecret) -> Self {
        Self { webhook_id: id(endpoint), secret: secret.expose() }
    }
}

impl From<EndpointId> for EnabledWebhook {
    fn from(endpoint: EndpointId) -> Self {
        Self { webhook_id: id(endpoint), enabled: true }
    }
}

impl From<EndpointId> for RemovedWebhook {
    fn from(endpoint: EndpointId) -> Self {
        Self { webhook_id: id(endpoint), removed: true }
    }
}
