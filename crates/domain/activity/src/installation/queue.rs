use async_trait::async_trait;
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use std::collections::BTreeMap;

/// Most entries of a queue that are counted; a longer queue has «at least» this many.
pub const COUNTED: u32 = 1_000;

/// Length of one queue, and its longest wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Number of waiting entries, at most [`COUNTED`] plus one.
    pub count: u32,
    pub oldest: Option<Timestamp>,
}

impl Backlog {
    /// The backlog of entries waiting since these instants, the longest first.
    pub fn of(since: &[Timestamp]) -> Self {
        let count = u32::try_from(since.len()).unwrap_or(u32::MAX);
        Self { count, oldest: since.first().copied() }
    }

    /// Both backlogs together: the sum of the numbers, the earlier of the waits.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let oldest = self.oldest.into_iter().chain(other.oldest).min();
        Self { count: self.count.saturating_add(other.count), oldest }
    }
}

/// The backlog of every queue, of all processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queues {
    pub receipts: Backlog,
    pub overdue_sends: Backlog,
    pub open_holds: Backlog,
    /// Events that feeds hold back because a transaction that began to write before them is still open;
    /// counted from the time they happened.
    pub feed: Backlog,
    /// Due events by project, for the endpoints that have waited longest. Archived projects are left out.
    pub events: BTreeMap<ProjectId, Backlog>,
    /// Events whose next attempt comes later, of these and of other endpoints; `oldest` is the time of the
    /// earliest attempt.
    pub retries: BTreeMap<ProjectId, Backlog>,
}

impl Queues {
    /// Adds the events of one endpoint: those that are due, and those whose next attempt comes later.
    pub fn add_events(&mut self, project: ProjectId, due: Backlog, later: Backlog) {
        for (all, waiting) in [(&mut self.events, due), (&mut self.retries, later)] {
            if waiting.count > 0 {
                let known = all.entry(project).or_default();
                *known = known.and(waiting);
            }
        }
    }
}

/// Reads the lengths of all queues, for operators and alerts.
#[async_trait]
pub trait QueueStore: Send + Sync {
    /// The queues at `now`, with the events of at most `endpoints` endpoints of projects that are not archived.
    /// MUST read at most [`COUNTED`] plus one rows of any queue, by index, and all endpoints in one query.
    async fn queues(&self, now: Timestamp, endpoints: u32) -> Result<Queues, StoreError>;
}
