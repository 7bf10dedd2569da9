//! Rows of the longest-waiting endpoints, and lengths of queues.

use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_activity::installation::Backlog;
use dwar_kernel::{ProjectId, StoreError};

/// An endpoint with a delivery that is due, and its project.
#[derive(QueryableByName)]
pub struct WaitsRow {
    #[diesel(sql_type = Id)]
    pub id: Id,
    #[diesel(sql_type = Id)]
    project_id: Id,
}

impl WaitsRow {
    /// The project of the endpoint; an error if the column is not an id.
    pub fn project(&self) -> Result<ProjectId, StoreError> {
        Row::new("webhook_endpoints", self.id).id("project_id", self.project_id)
    }
}

/// Builds a backlog from the waiting times in a column, the longest first. Skips an invalid
/// instant: the work on the row reports it.
pub fn backlog(since: Vec<Option<At>>) -> Backlog {
    Backlog::of(&since.into_iter().filter_map(|since| since?.0).collect::<Vec<_>>())
}
