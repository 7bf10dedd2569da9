use crate::{
    ClaimCapacity, DisablePolicy, Endpoint, EndpointCall, Event, NewSecret, SendFailure,
    WebhookSecret,
};
use async_trait::async_trait;
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use std::time::Duration;

/// Keeps endpoints and the events that are still to be delivered to them.
///
/// The stores of the changes record events in the same step as the change itself, for every endpoint of the
/// project that is enabled at that moment. So each event is delivered at least once.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait EventStore: Send + Sync {
    /// Stores a new endpoint; `false` if its project has [`Endpoint::MOST`]. Two concurrent calls MUST NOT
    /// both take the last place.
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<bool, StoreError>;

    /// The endpoints of a project, oldest first, equal times by id.
    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError>;

    /// Removes an endpoint and all its undelivered events; `false` if there is no such endpoint.
    async fn remove_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError>;

    /// Replaces an endpoint's secret by [`KeptSecret::replace`](dwar_kernel::KeptSecret::replace); `false` if
    /// there is no such endpoint.
    async fn replace_secret(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        secret: NewSecret,
    ) -> Result<bool, StoreError>;

    /// Enables an endpoint by [`Endpoint::enable`]; `false` if there is no such endpoint.
    async fn enable_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError>;

    /// At most `limit` disabled endpoints of projects that are not archived, the longest disabled first, equal
    /// times by id.
    async fn disabled_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError>;

    /// At most `limit` enabled endpoints of projects that are not archived whose last call failed, the longest
    /// failing first, equal times by id.
    async fn failing_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError>;

    /// Records an event that belongs to no other store's change. Recording it again changes nothing.
    async fn record(&self, event: Event) -> Result<(), StoreError>;

    /// Claims deliveries that are due at `now`, shared by [`ClaimCapacity::share`]: for each endpoint the longest due
    /// first, equal times in any order. Each is handed to one caller and is not due again before `lease` has
    /// passed.
    ///
    /// Many waiting deliveries of one endpoint MUST NOT slow down the others: an endpoint is looked up by
    /// index, not by a scan of its deliveries. A disabled endpoint gets nothing.
    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        room: ClaimCapacity,
    ) -> Result<Vec<Dispatch>, StoreError>;

    /// Makes deliveries that are due later than [`latest_due`](crate::latest_due) due a
    /// [`CALL_LEASE`](crate::CALL_LEASE) after `now`, so that a call under way is not repeated; returns how
    /// many.
    async fn bring_forward(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// Records successful calls, all or none, by [`Endpoint::after_success`]; repeating this changes nothing.
    /// Calls to an endpoint that was removed are left out.
    async fn delivered(&self, calls: Vec<EndpointCall>) -> Result<(), StoreError>;

    /// Records a failed call, counted by [`Endpoint::after_failure`]. The delivery is due again at
    /// `call.again`, or never if that is `None`.
    ///
    /// Returns the endpoint if this disabled it. In the same step the other endpoints of the project get an
    /// event about it, only once however many calls fail at the same time.
    async fn failed(
        &self,
        call: EndpointCall,
        disable_policy: Option<DisablePolicy>,
    ) -> Result<Option<Endpoint>, StoreError>;

    /// Gives up a delivery, which says nothing about its endpoint, and records the call that was not made.
    async fn give_up(&self, call: EndpointCall) -> Result<(), StoreError>;

    /// Deletes undelivered events of disabled endpoints in bounded steps; returns the number of deliveries.
    async fn drop_undelivered(&self) -> Result<u64, StoreError>;
}

/// One event to be delivered to one endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dispatch {
    pub endpoint: Endpoint,
    pub event: Event,
    pub failures: u32,
}

/// A signed request to an endpoint (Standard Webhooks). No `Debug`: the body may name a phone.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookRequest {
    pub url: String,
    /// The `webhook-id` header.
    pub id: String,
    /// The `webhook-timestamp` header, seconds since 1970.
    pub timestamp: i64,
    /// The `webhook-signature` header: `v1,…`, one per secret, separated by blanks.
    pub signature: String,
    pub body: Vec<u8>,
}

/// A request that an endpoint did not accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFailure {
    pub cause: SendFailure,
    /// The `Retry-After` of an answer with status 429 or 503, without an upper bound.
    pub retry_after: Option<Duration>,
}

impl From<SendFailure> for CallFailure {
    fn from(cause: SendFailure) -> Self {
        Self { cause, retry_after: None }
    }
}

/// Signs events with the secrets of endpoints, and posts them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// The JSON body of an event, with the phone number in the form that the endpoint gets, if any.
    fn body(&self, event: &Event, phone: Option<String>) -> Vec<u8>;

    /// The signature of `id.timestamp.body` under `secret`: `v1,` and base64 of HMAC-SHA-256.
    fn sign(&self, secret: &WebhookSecret, id: &str, timestamp: i64, body: &[u8]) -> String;

    /// Posts a request and returns the status of a success. The sender enforces the time limit.
    async fn post(&self, request: WebhookRequest) -> Result<u16, CallFailure>;

    /// Whether events may be sent to this address, as far as can be told without a DNS look-up.
    ///
    /// # Errors
    /// [`SendFailure::AddressNotAllowed`].
    fn allows(&self, url: &str) -> Result<(), SendFailure>;
}
