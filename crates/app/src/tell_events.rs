use crate::Toolbox;
use dwar_event::{
    Dispatch, Endpoint, Event, EventStore, SendFailure, Subject, WebhookRequest, WebhookSecret,
    WebhookSender,
};
use dwar_kernel::{Purpose, Sealed, StoreError, Timestamp};
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;

const BATCH: u32 = 50;
/// Longer than a call to an endpoint may take.
const LEASE: Duration = Duration::from_secs(60);

/// Tells endpoints what happened (Standard Webhooks), each at least once.
pub struct TellEvents {
    /// Time and vault.
    pub tools: Toolbox,
    /// Knows who has to be told.
    pub events: Arc<dyn EventStore>,
    /// Signs and posts.
    pub sender: Arc<dyn WebhookSender>,
}

impl TellEvents {
    /// Tells everything that is due, several endpoints at once; gives how many were tried.
    pub async fn tell_due(&self) -> Result<usize, StoreError> {
        let due = self.events.claim_due(self.tools.now(), LEASE, BATCH).await?;
        let told = join_all(due.iter().map(|dispatch| self.tell(dispatch))).await;
        told.into_iter().collect::<Result<Vec<()>, StoreError>>().map(|told| told.len())
    }

    async fn tell(&self, dispatch: &Dispatch) -> Result<(), StoreError> {
        let Dispatch { endpoint, event, failures } = dispatch;
        let id = event.id();
        let request = match self.request(endpoint, event) {
            Ok(request) => request,
            Err(cause) => {
                tracing::error!(endpoint = %endpoint.id, error = %cause, "an event cannot be told");
                return self.events.failed(endpoint.id, id, None).await;
            }
        };
        match self.sender.post(request).await {
            Ok(()) => self.events.delivered(endpoint.id, id).await,
            Err(cause) => {
                // An address that leads where we do not go will not lead elsewhere tomorrow.
                let wait = match cause {
                    SendFailure::Forbidden => None,
                    _ => Event::wait_after(failures.saturating_add(1)),
                };
                tracing::warn!(endpoint = %endpoint.id, event = id, %cause,
                    again_in_seconds = wait.map(|wait| wait.as_secs()), "an event was not taken");
                let again = wait.map(|wait| self.tools.now() + wait);
                self.events.failed(endpoint.id, id, again).await
            }
        }
    }

    fn request(&self, endpoint: &Endpoint, event: &Event) -> Result<WebhookRequest, StoreError> {
        let now = self.tools.now();
        let (id, timestamp) = (event.id(), now.timestamp());
        let body = self.sender.body(event, self.phone(endpoint, event)?);
        let secrets = self.secrets(endpoint, now)?;
        let sign = |secret| self.sender.sign(secret, &id, timestamp, &body);
        let signature = secrets.iter().map(sign).collect::<Vec<_>>().join(" ");
        Ok(WebhookRequest { url: endpoint.url.clone(), id, timestamp, signature, body })
    }

    fn secrets(
        &self,
        endpoint: &Endpoint,
        now: Timestamp,
    ) -> Result<Vec<WebhookSecret>, StoreError> {
        endpoint.secrets(now).into_iter().map(|sealed| self.secret(endpoint, sealed)).collect()
    }

    fn secret(&self, endpoint: &Endpoint, sealed: &Sealed) -> Result<WebhookSecret, StoreError> {
        let context = endpoint.id.uuid();
        let plain = self.tools.vault.open(Purpose::WebhookSecret, context.as_bytes(), sealed)?;
        let text = String::from_utf8(plain).ok().and_then(|text| text.parse().ok());
        text.ok_or_else(|| StoreError::Inconsistent {
            table: "webhook_endpoints",
            column: "secret",
            row: endpoint.id.to_string(),
        })
    }

    /// The phone an event is about: masked, unless the endpoint is to know it; none once erased.
    fn phone(&self, endpoint: &Endpoint, event: &Event) -> Result<Option<String>, StoreError> {
        let Subject::Otp { phone: Some(phone), .. } = &event.subject else {
            return Ok(None);
        };
        let phone = self.tools.vault.open_phone(event.project, &phone.sealed)?;
        Ok(Some(if endpoint.full_phone { phone.e164() } else { phone.to_string() }))
    }
}
