use crate::{Figure, FigureChunk, FigureSpan, Interval, RefusalFigure, RequestFacts, Traffic};
use async_trait::async_trait;
use dwar_kernel::{KeeperId, KeyMode, OtpId, ProjectId, ProjectMode, StoreError, Timestamp};
use std::collections::BTreeMap;
use std::time::Duration;

/// How far the figures are computed, for all projects together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Requests made before this are counted for good, in hours and days too; `None` before the first
    /// settlement.
    pub settled: Option<Timestamp>,
    /// The newest minutes show the state at this instant.
    pub as_of: Option<Timestamp>,
}

/// Keeps figures, so that no page has to count requests.
///
/// One keeper at a time works on the figures, under a lease; a keeper that lost the lease cannot write any
/// more.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait FiguresStore: Send + Sync {
    /// Gives `keeper` the lease on the figures for the time `lease` and returns the progress; `None` if
    /// another keeper holds the lease.
    async fn acquire_lease(
        &self,
        keeper: KeeperId,
        now: Timestamp,
        lease: Duration,
    ) -> Result<Option<Progress>, StoreError>;

    /// At most `limit` requests of all projects made within `window`, ordered by id, after `last`.
    async fn sent(
        &self,
        window: Interval,
        last: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<RequestFacts>, StoreError>;

    /// Refused sends of all projects within `window`, added up by project, mode, minute and reason: only
    /// those of the first hour of the clock that has any.
    async fn refused(&self, window: Interval) -> Result<Vec<RefusalFigure>, StoreError>;

    /// Replaces all stored figures of the chunk's minutes; `false`, with nothing changed, if `keeper` does
    /// not hold the lease, or the chunk's first minute is settled.
    async fn replace(&self, keeper: KeeperId, chunk: FigureChunk) -> Result<bool, StoreError>;

    /// Like [`FiguresStore::replace`], and settles these minutes: they are added to their hour and day by
    /// [`FigureChunk::rolled_up`] in the same step. `false`, with nothing changed, if `keeper` does not hold the
    /// lease, or the chunk does not begin where the last settled one ended.
    async fn settle(&self, keeper: KeeperId, chunk: FigureChunk) -> Result<bool, StoreError>;

    /// Records that the newest minutes show the state at `as_of`; `false` if `keeper` does not hold the
    /// lease.
    async fn refreshed(&self, keeper: KeeperId, as_of: Timestamp) -> Result<bool, StoreError>;

    /// How far the figures are computed, for readers without the lease.
    async fn progress(&self) -> Result<Progress, StoreError>;

    /// The figures of a project in one mode, in any order.
    async fn figures(
        &self,
        project_mode: ProjectMode,
        spans: Vec<FigureSpan>,
    ) -> Result<Vec<Figure>, StoreError>;

    /// The sums of the figures of each of these projects in one mode; projects without figures are left out.
    async fn traffic(
        &self,
        projects: Vec<ProjectId>,
        mode: KeyMode,
        spans: Vec<FigureSpan>,
    ) -> Result<BTreeMap<ProjectId, Traffic>, StoreError>;

    /// Deletes minutes that began before `minutes`, and hours and days that began before `hours`; returns the
    /// number of figures.
    async fn sweep(&self, minutes: Timestamp, hours: Timestamp) -> Result<u64, StoreError>;
}
