//! Endpoints that have waited longest, and how long a queue is.

use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_activity::installation::Backlog;
use dwar_kernel::{ProjectId, StoreError};

/// An endpoint that something is due for, and its project.
#[derive(QueryableByName)]
pub struct WaitsRow {
    #[diesel(sql_type = Id)]
    pub id: Id,
    #[diesel(sql_type = Id)]
    project_id: Id,
}

impl WaitsRow {
    /// Whose it is.
    pub fn project(&self) -> Result<ProjectId, StoreError> {
        Row::new("webhook_endpoints", self.id).id("project_id", self.project_id)
    }
}

/// What waits since these instants of a column, the longest first. One that is none of ours is left out: the row
/// is told where it is worked on.
pub fn backlog(since: Vec<Option<At>>) -> Backlog {
    Backlog::of(&since.into_iter().filter_map(|since| since?.0).collect::<Vec<_>>())
}
