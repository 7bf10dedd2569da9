use async_trait::async_trait;
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use std::collections::BTreeMap;

/// How many of one queue are counted; beyond that there are «at least as many».
pub const COUNTED: u32 = 1_000;

/// What waits in one queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many there are, at most [`COUNTED`] plus one.
    pub count: u32,
    /// Since when the one that waits longest has waited.
    pub oldest: Option<Timestamp>,
}

impl Backlog {
    /// The backlog of what has waited since these instants, the longest first.
    pub fn of(since: &[Timestamp]) -> Self {
        let count = u32::try_from(since.len()).unwrap_or(u32::MAX);
        Self { count, oldest: since.first().copied() }
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let oldest = self.oldest.into_iter().chain(other.oldest).min();
        Self { count: self.count.saturating_add(other.count), oldest }
    }
}

/// What waits to be done, by any process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    /// Receipts about messages of ours that are due.
    pub receipts: Backlog,
    pub overdue_sends: Backlog,
    pub open_holds: Backlog,
    /// Events that feeds hold back, because a transaction is open that began to write before they were recorded; since
    /// they happened.
    pub feed: Backlog,
    /// Events that are due, by project, of the endpoints that have waited longest.
    pub events: BTreeMap<ProjectId, Backlog>,
    /// Events whose next attempt comes later, of these and of other endpoints; `oldest` is the instant of the
    /// first of these attempts.
    pub retries: BTreeMap<ProjectId, Backlog>,
}

impl Queues {
    /// Adds what waits for one endpoint of a project: what is due, and what is tried again later.
    pub fn add_events(&mut self, project: ProjectId, due: Backlog, later: Backlog) {
        for (all, waiting) in [(&mut self.events, due), (&mut self.retries, later)] {
            if waiting.count > 0 {
                let known = all.entry(project).or_default();
                *known = known.and(waiting);
            }
        }
    }
}

/// Looks into the queues.
#[async_trait]
pub trait QueueStore: Send + Sync {
    /// What waits at `now`, with the events of at most `endpoints` endpoints. MUST read at most
    /// [`COUNTED`] plus one rows of any queue, by index.
    async fn queues(&self, now: Timestamp, endpoints: u32) -> Result<Queues, StoreError>;
}
