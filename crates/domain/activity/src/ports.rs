use crate::{Chunk, Figure, Refused, Sent, Span, Traffic, Window};
use async_trait::async_trait;
use dwar_kernel::{KeeperId, KeyMode, OtpId, ProjectId, ProjectMode, StoreError, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// How far the figures have come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Requests made before this are counted for good, also in the hours and days; `None` before
    /// the first time.
    pub settled: Option<Timestamp>,
    /// The newest minutes show the state as of this instant.
    pub as_of: Option<Timestamp>,
}

/// Keeps figures of what is on record, so that no page has to count.
///
/// One keeper at a time works on them, under a lease; one that lost it writes nothing any more.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait FiguresStore: Send + Sync {
    /// Makes `keeper` the one that works on the figures until `lease` has passed, and tells how far
    /// they have come; `None` if another one is.
    async fn lead(
        &self,
        keeper: KeeperId,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<Progress>, StoreError>;

    /// Requests of every project that were made within `window`, `limit` of them at most, in the
    /// order of their ids, beginning after `last`.
    async fn sent(
        &self,
        window: Window,
        last: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<Sent>, StoreError>;

    /// Sends of every project that were refused within `window`, added up by world, minute and reason:
    /// those of the first hour of the clock in which there are any.
    async fn refused(&self, window: Window) -> Result<Vec<Refused>, StoreError>;

    /// Replaces whatever is stored of the chunk's minutes; `false`, with nothing changed, if
    /// `keeper` does not lead, or if its first minute is settled.
    async fn replace(&self, keeper: KeeperId, chunk: Chunk) -> Result<bool, StoreError>;

    /// As [`FiguresStore::replace`], and settles these minutes: they are added to their hour and day,
    /// by [`Chunk::rolled_up`], in the same step. `false`, with nothing changed, if `keeper` does not
    /// lead, or if the chunk does not begin where the last settled one ends.
    async fn settle(&self, keeper: KeeperId, chunk: Chunk) -> Result<bool, StoreError>;

    /// Notes that the newest minutes show the state as of `as_of`; `false` if `keeper` does not
    /// lead.
    async fn refreshed(&self, keeper: KeeperId, as_of: Timestamp) -> Result<bool, StoreError>;

    /// How far the figures have come.
    async fn progress(&self) -> Result<Progress, StoreError>;

    /// The figures of a project in one of its worlds, in any order.
    async fn figures(
        &self,
        world: ProjectMode,
        spans: Vec<Span>,
    ) -> Result<Vec<Figure>, StoreError>;

    /// The sums of the figures of each of these projects in one mode; of a project without figures nothing.
    async fn traffic(
        &self,
        projects: Vec<ProjectId>,
        mode: KeyMode,
        spans: Vec<Span>,
    ) -> Result<BTreeMap<ProjectId, Traffic>, StoreError>;

    /// Drops minutes that began before `minutes`, hours and days that began before `hours`; gives
    /// how many figures were dropped.
    async fn sweep(&self, minutes: Timestamp, hours: Timestamp) -> Result<u64, StoreError>;
}
