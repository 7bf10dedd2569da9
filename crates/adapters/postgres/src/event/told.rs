//! Deletes events that are no longer needed.

use crate::PostgresStore;
use crate::connection::error::Failure;
use crate::connection::sweep::{SWEEP_BATCH, SweepTurn};
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_sql::Id;
use dwar_sql::schema::{event_deliveries, events, webhook_endpoints};

impl PostgresStore {
    /// Deletes the deliveries to endpoints that are switched off.
    pub(crate) async fn drop_untold_events(&self) -> Result<u64, StoreError> {
        self.in_turns("event.drop_untold", drop_undelivered).await
    }
}

/// Locks the events that still exist and returns their ids.
pub(crate) fn lock_events(conn: &mut PgConnection, ids: Vec<String>) -> QueryResult<Vec<String>> {
    let known = events::table.filter(events::id.eq_any(ids)).order(events::id);
    known.select(events::id).for_update().load(conn)
}

/// Deletes one batch of deliveries to endpoints that are switched off.
fn drop_undelivered(conn: &mut PgConnection) -> Result<SweepTurn, Failure> {
    let off = webhook_endpoints::table
        .filter(webhook_endpoints::disabled_at.is_not_null())
        .select(webhook_endpoints::id);
    let off: Vec<Id> = off.load(conn)?;
    if off.is_empty() {
        return Ok(SweepTurn { taken: 0, gone: 0 });
    }
    let untold: Vec<String> = event_deliveries::table
        .filter(event_deliveries::endpoint_id.eq_any(&off))
        .limit(SWEEP_BATCH)
        .select(event_deliveries::event_id)
        .load(conn)?;
    let locked = lock_events(conn, untold)?;
    let gone = event_deliveries::table
        .filter(event_deliveries::event_id.eq_any(&locked))
        .filter(event_deliveries::endpoint_id.eq_any(&off));
    let gone = diesel::delete(gone).execute(conn)?;
    drop_told(conn, &locked)?;
    Ok(SweepTurn { taken: gone, gone })
}

/// The events without a pending delivery and without a recorded call.
macro_rules! untold {
    ($events:expr) => {{
        use diesel::dsl::{exists, not};
        use dwar_sql::schema::{event_deliveries, events, webhook_calls};
        let waiting = event_deliveries::table.filter(event_deliveries::event_id.eq(events::id));
        let called = webhook_calls::table.filter(webhook_calls::event_id.eq(events::id));
        events::table
            .filter(events::id.eq_any($events))
            .filter(not(exists(waiting)))
            .filter(not(exists(called)))
    }};
}
pub(crate) use untold;

/// Deletes the events without a pending delivery, without a recorded call and outside the feed. The
/// caller has locked them.
pub(crate) fn drop_told(conn: &mut PgConnection, candidates: &[String]) -> QueryResult<usize> {
    let told = untold!(candidates).filter(diesel::dsl::not(events::in_feed));
    diesel::delete(told).execute(conn)
}
