use crate::{
    Endpoint, EndpointCall, Event, NewSecret, Room, SendFailure, SwitchOff, WebhookSecret,
};
use async_trait::async_trait;
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use std::time::Duration;

/// Keeps the addresses that events go to, and who still has to be told.
///
/// Events are recorded by the stores of what happened, in the same step as the change itself, for
/// every endpoint that the project has at that moment and that is not switched off. So each is told
/// at least once.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait EventStore: Send + Sync {
    /// Puts a new endpoint on record; `false` if its project has [`Endpoint::MOST`]. Two at once MUST NOT
    /// both take the last place.
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<bool, StoreError>;

    /// The endpoints of a project, oldest first, equals by id.
    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError>;

    /// Removes an endpoint and everything it had not been told; `false` if there is none.
    async fn remove_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError>;

    /// Replaces an endpoint's secret by [`KeptSecret::replace`](dwar_kernel::KeptSecret::replace); `false` if there is none.
    async fn replace_secret(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        secret: NewSecret,
    ) -> Result<bool, StoreError>;

    /// Switches an endpoint on by [`Endpoint::enable`]; `false` if there is none.
    async fn enable_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError>;

    /// Endpoints of every project that are switched off, the longest first, equals by id, up to
    /// `limit`.
    async fn disabled_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError>;

    /// Endpoints of every project whose last call failed and that are not switched off, the longest
    /// failing first, equals by id, up to `limit`.
    async fn failing_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError>;

    /// Records an event that belongs to no other store's change; recording it again changes
    /// nothing.
    async fn record(&self, event: Event) -> Result<(), StoreError>;

    /// Deliveries that are due at `now`, as [`Room::share`] says: those longest due of each
    /// endpoint, in that order, equals in any. Each goes to one caller: once given out, it is not
    /// due again before `lease` has passed.
    ///
    /// However much one endpoint has waiting, it MUST cost the others nothing: an endpoint is
    /// looked up by index, not by a scan of its deliveries. One that is switched off gets nothing.
    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        room: Room,
    ) -> Result<Vec<Dispatch>, StoreError>;

    /// Has deliveries that are due later than [`latest_due`](crate::latest_due) due a [`CALL_LEASE`](crate::CALL_LEASE)
    /// after `now`, so that a call that is under way is not made twice; gives their number.
    async fn bring_forward(&self, now: Timestamp) -> Result<u64, StoreError>;

    /// The endpoints have been told, see [`Endpoint::after_success`]; the calls are on record, all or none, and once
    /// however often this is said. Those to an endpoint that was removed are left out.
    async fn delivered(&self, calls: Vec<EndpointCall>) -> Result<(), StoreError>;

    /// A call to the endpoint failed: it is counted by [`Endpoint::after_failure`]
    /// and put on record, and the delivery is due again at `call.again`, or never with `None`.
    ///
    /// Gives the endpoint if this switched it off. In the same step its project's other endpoints
    /// then get an event about it, only once however many calls fail at once.
    async fn failed(
        &self,
        call: EndpointCall,
        switch_off: Option<SwitchOff>,
    ) -> Result<Option<Endpoint>, StoreError>;

    /// The delivery is given up, which says nothing about its endpoint; the call that was not made
    /// is on record.
    async fn give_up(&self, call: EndpointCall) -> Result<(), StoreError>;

    /// Drops what switched-off endpoints have not been told, in bounded steps; gives the number of
    /// deliveries.
    async fn drop_untold(&self) -> Result<u64, StoreError>;
}

/// One event to be told to one endpoint.
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
    /// `webhook-id`.
    pub id: String,
    /// `webhook-timestamp`, seconds since 1970.
    pub timestamp: i64,
    /// `webhook-signature`: `v1,…`, one per secret, separated by blanks.
    pub signature: String,
    pub body: Vec<u8>,
}

/// A request that an endpoint did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotTaken {
    pub cause: SendFailure,
    /// How long it asks to be left alone (`Retry-After`): read at 429 and 503 alone, and without any bound.
    pub retry_after: Option<Duration>,
}

impl From<SendFailure> for NotTaken {
    fn from(cause: SendFailure) -> Self {
        Self { cause, retry_after: None }
    }
}

/// Signs events and hands them to endpoints.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WebhookSender: Send + Sync {
    /// The JSON body of an event, with the phone number as it is to be shown, if any.
    fn body(&self, event: &Event, phone: Option<String>) -> Vec<u8>;

    /// The signature of `id.timestamp.body` under `secret`: `v1,` and base64 of HMAC-SHA-256.
    fn sign(&self, secret: &WebhookSecret, id: &str, timestamp: i64, body: &[u8]) -> String;

    /// Posts a request and gives the status of its success; the sender bounds the time.
    async fn post(&self, request: WebhookRequest) -> Result<u16, NotTaken>;

    /// Whether events may go to this address at all, as far as can be told without a look-up.
    ///
    /// # Errors
    /// [`SendFailure::AddressNotAllowed`].
    fn allows(&self, url: &str) -> Result<(), SendFailure>;
}
