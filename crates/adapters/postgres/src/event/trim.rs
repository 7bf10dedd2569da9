use crate::PostgresStore;
use crate::connection::sweep::SweepTurn;
use crate::ports::feed::{TrimTurn, trim_some};
use diesel::prelude::*;
use diesel::sql_types::Text;
use dwar_kernel::{ProjectMode, StoreError, Timestamp};
use dwar_sql::Id;

/// Rows with transaction ids of another server, restored from a dump. The ids of this server are
/// lower, so the rows would be held back until it caught up. They keep their order by their
/// numbers.
const ADOPT: &str = "UPDATE events SET transaction = pg_current_xact_id() \
    WHERE project_id = $1 AND mode = $2 AND in_feed \
        AND transaction >= pg_snapshot_xmax(pg_current_snapshot())";

const FORGET: &str = "DELETE FROM event_feeds WHERE project_id = $1 AND mode = $2 \
    AND greatest(counted_transaction, dropped_transaction) \
        >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint";

impl PostgresStore {
    /// Removes old events from one feed, one batch per transaction.
    pub(crate) async fn trim_feed(
        &self,
        project_mode: ProjectMode,
        bound: u32,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        self.in_turns("feed.trim", move |conn| {
            for sql in [FORGET, ADOPT] {
                diesel::sql_query(sql)
                    .bind::<Id, _>(Id::from(project_mode.project))
                    .bind::<Text, _>(project_mode.mode.as_str())
                    .execute(conn)?;
            }
            let TrimTurn { taken, gone } = trim_some(conn, project_mode, bound, before)?;
            Ok(SweepTurn { taken, gone })
        })
        .await
    }
}
