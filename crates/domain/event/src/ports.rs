use crate::{Endpoint, Event, NewSecret, WebhookSecret};
use async_trait::async_trait;
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use std::time::Duration;

/// Keeps the addresses that events go to, and who still has to be told.
///
/// Events are put on record by the stores of what happened, in the same step as the change itself,
/// for every endpoint that its project has at that moment. So each is told at least once.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait EventStore: Send + Sync {
    /// Adds an endpoint.
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<(), StoreError>;

    /// The endpoints of a project, oldest first.
    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError>;

    /// Removes an endpoint and everything it had not been told; `false` if there is none.
    async fn remove_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError>;

    /// Replaces an endpoint's secret by [`Endpoint::replace_secret`]; `false` if there is none.
    async fn replace_secret(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        secret: NewSecret,
    ) -> Result<bool, StoreError>;

    /// Deliveries that are due at `now`, the longest due first, each handed to one caller: one
    /// given out is not due again before `lease` has passed.
    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<Dispatch>, StoreError>;

    /// The endpoint has been told; an event that nobody else waits for goes.
    async fn delivered(&self, endpoint: EndpointId, event: String) -> Result<(), StoreError>;

    /// The endpoint could not be told: it is due again at `again`, or, with `None`, never.
    async fn failed(
        &self,
        endpoint: EndpointId,
        event: String,
        again: Option<Timestamp>,
    ) -> Result<(), StoreError>;
}

/// One event to be told to one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// To whom.
    pub endpoint: Endpoint,
    /// What.
    pub event: Event,
    /// How often it failed so far.
    pub failures: u32,
}

/// A signed request to an endpoint (Standard Webhooks). No `Debug`: the body may name a phone.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookRequest {
    /// Where to.
    pub url: String,
    /// `webhook-id`.
    pub id: String,
    /// `webhook-timestamp`, seconds since 1970.
    pub timestamp: i64,
    /// `webhook-signature`: `v1,…`, one per secret, separated by blanks.
    pub signature: String,
    /// The JSON body that was signed.
    pub body: Vec<u8>,
}

/// Why an endpoint was not told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SendFailure {
    /// Its address leads where we do not go: not public, or not HTTPS.
    #[error("the address is not allowed")]
    Forbidden,
    /// It could not be reached in time.
    #[error("the endpoint cannot be reached")]
    Unreachable,
    /// It answered something else than a success.
    #[error("the endpoint answered {0}")]
    Status(u16),
}

/// Signs events and hands them to endpoints.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// The JSON body of an event, with the phone number as it is to be shown, if any.
    fn body(&self, event: &Event, phone: Option<String>) -> Vec<u8>;

    /// The signature of `id.timestamp.body` under `secret`: `v1,` and base64 of HMAC-SHA-256.
    fn sign(&self, secret: &WebhookSecret, id: &str, timestamp: i64, body: &[u8]) -> String;

    /// Posts a request; the sender bounds the time.
    async fn post(&self, request: WebhookRequest) -> Result<(), SendFailure>;

    /// Whether events may go to this address at all, as far as can be told without a look-up.
    ///
    /// # Errors
    /// [`SendFailure::Forbidden`].
    fn allows(&self, url: &str) -> Result<(), SendFailure>;
}
