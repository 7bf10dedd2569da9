use crate::{CallFilter, Event, LoggedCall, Resend};
use async_trait::async_trait;
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};

/// Shows what was told to an endpoint, and sends it again.
///
/// [`EventStore`](crate::EventStore) puts calls on record, in the step that records their outcome.
/// An event stays on record as long as an endpoint waits for it or a call with it is on record.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CallLog: Send + Sync {
    /// Calls to an endpoint of the project, the newest first, up to `limit`; none if the project
    /// has no such endpoint.
    async fn calls(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        filter: CallFilter,
        limit: u32,
    ) -> Result<Vec<LoggedCall>, StoreError>;

    /// Makes an event due at `now` for an endpoint of the project that was called with it, as
    /// [`ResendState::resend`](crate::ResendState::resend) says; [`Resend::Gone`] if the project has no
    /// such endpoint. Of many requests at once exactly one is queued.
    async fn resend(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        event: String,
        now: Timestamp,
    ) -> Result<Resend, StoreError>;

    /// Records an event, due at `due_at`, for one endpoint of its project alone, switched off or
    /// not. `false`, with nothing changed, if the event is on record already, or the project has no
    /// such endpoint. Of many calls at once exactly one is `true`.
    async fn address(
        &self,
        event: Event,
        endpoint: EndpointId,
        due_at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Drops all calls to an endpoint but the newest `kept`, and each event that no endpoint waits
    /// for and that has no call left; gives the number of calls.
    async fn trim_calls(&self, endpoint: EndpointId, kept: u32) -> Result<u64, StoreError>;

    /// Drops calls that began before `before`, and events as [`CallLog::trim_calls`] does, in
    /// bounded steps; gives the number of calls.
    async fn sweep_calls(&self, before: Timestamp) -> Result<u64, StoreError>;
}
