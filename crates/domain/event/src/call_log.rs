use crate::{CallFilter, Event, LoggedCall, Resend};
use async_trait::async_trait;
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};

/// Lists the calls to an endpoint, and sends their events again.
///
/// [`EventStore`](crate::EventStore) records calls, in the step that records their outcome. An event stays on
/// record as long as an endpoint waits for it or a call with it is on record.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait CallLog: Send + Sync {
    /// Calls to an endpoint of the project, newest first, at most `limit`; empty if the project has no such
    /// endpoint.
    async fn calls(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        filter: CallFilter,
        limit: u32,
    ) -> Result<Vec<LoggedCall>, StoreError>;

    /// Makes an event that was sent to an endpoint of the project due again at `now`, as
    /// [`ResendState::resend`](crate::ResendState::resend) decides; [`Resend::Gone`] if the project has no
    /// such endpoint. Exactly one of many concurrent requests is queued.
    async fn resend(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        event: String,
        now: Timestamp,
    ) -> Result<Resend, StoreError>;

    /// Records an event, due at `due_at`, for one endpoint of its project only, disabled or not. `false`,
    /// with nothing changed, if the event is on record already, or the project has no such endpoint. Exactly
    /// one of many concurrent calls is `true`.
    async fn address(
        &self,
        event: Event,
        endpoint: EndpointId,
        due_at: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Deletes all calls to an endpoint except the newest `kept`, and every event that has no call left and
    /// that no endpoint waits for; returns the number of calls.
    async fn trim_calls(&self, endpoint: EndpointId, kept: u32) -> Result<u64, StoreError>;

    /// Deletes calls that began before `before`, and events like [`CallLog::trim_calls`], in bounded steps;
    /// returns the number of calls.
    async fn sweep_calls(&self, before: Timestamp) -> Result<u64, StoreError>;
}
