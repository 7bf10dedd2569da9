use crate::connection::pool::{SWEEP, SqliteStore};
use crate::ports::feed::{TrimTurn, trim_some};
use dwar_kernel::{ProjectMode, StoreError, Timestamp};

impl SqliteStore {
    /// Removes old events from one feed, one batch per step.
    pub(crate) async fn trim_feed(
        &self,
        project_mode: ProjectMode,
        bound: u32,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut total = 0;
        loop {
            let trim = move |connection: &mut _| trim_some(connection, project_mode, bound, before);
            let TrimTurn { taken, gone } =
                self.changing_no_look_up().write("feed.trim", trim).await?;
            total += gone as u64;
            if taken < usize::from(SWEEP) {
                return Ok(total);
            }
        }
    }
}
