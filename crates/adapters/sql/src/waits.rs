//! Rows of the longest-waiting endpoints, and lengths of queues.

use crate::{At, Id, Row};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable};
use dwar_activity::installation::Backlog;
use dwar_kernel::{ProjectId, StoreError};

/// An endpoint with deliveries that wait: how many are due and how many come later, and the first of each.
#[derive(QueryableByName)]
pub struct WaitsRow {
    #[diesel(sql_type = Id)]
    id: Id,
    #[diesel(sql_type = Id)]
    project_id: Id,
    #[diesel(sql_type = BigInt)]
    due: i64,
    #[diesel(sql_type = Nullable<At>)]
    due_since: Option<At>,
    #[diesel(sql_type = BigInt)]
    later: i64,
    #[diesel(sql_type = Nullable<At>)]
    later_since: Option<At>,
}

impl WaitsRow {
    /// The project of the endpoint; an error if the column is not an id.
    pub fn project(&self) -> Result<ProjectId, StoreError> {
        Row::new("webhook_endpoints", self.id).id("project_id", self.project_id)
    }

    /// The deliveries that are due.
    pub fn due(&self) -> Backlog {
        counted(self.due, self.due_since)
    }

    /// The deliveries whose next attempt comes later.
    pub fn later(&self) -> Backlog {
        counted(self.later, self.later_since)
    }
}

/// Builds a backlog from the waiting times in a column, the longest first. Skips an invalid
/// instant: the work on the row reports it.
pub fn backlog(since: Vec<Option<At>>) -> Backlog {
    Backlog::of(&since.into_iter().filter_map(|since| since?.0).collect::<Vec<_>>())
}

fn counted(count: i64, since: Option<At>) -> Backlog {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    Backlog { count, oldest: since.and_then(|since| since.0) }
}
