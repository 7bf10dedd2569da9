//! Deletes events that are no longer needed.

use crate::connection::pool::{SWEEP, SqliteStore};
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_sql::Id;
use dwar_sql::schema::{event_deliveries, events, webhook_endpoints};

impl SqliteStore {
    /// Deletes the deliveries to endpoints that are switched off.
    pub(crate) async fn drop_untold_events(&self) -> Result<u64, StoreError> {
        self.in_batches(|connection| {
            let off = webhook_endpoints::table
                .filter(webhook_endpoints::disabled_at.is_not_null())
                .select(webhook_endpoints::id);
            let untold: Vec<(String, Id)> = event_deliveries::table
                .filter(event_deliveries::endpoint_id.eq_any(off))
                .limit(SWEEP.into())
                .select((event_deliveries::event_id, event_deliveries::endpoint_id))
                .load(connection)?;
            for (event, endpoint) in &untold {
                let delivery = event_deliveries::table.find((event, endpoint));
                diesel::delete(delivery).execute(connection)?;
            }
            let (events, _): (Vec<String>, Vec<Id>) = untold.into_iter().unzip();
            drop_told(connection, &events)?;
            Ok(events.len())
        })
        .await
    }
}

/// Returns the ids as they are. Only one thread writes, so the events stay until that thread
/// deletes them.
pub(crate) const fn lock_events(
    _connection: &mut SqliteConnection,
    ids: Vec<String>,
) -> QueryResult<Vec<String>> {
    Ok(ids)
}

/// The events without a pending delivery and without a recorded call.
macro_rules! untold {
    ($event:expr) => {{
        use diesel::dsl::{exists, not};
        use dwar_sql::schema::{event_deliveries, events, webhook_calls};
        let waiting = event_deliveries::table.filter(event_deliveries::event_id.eq(events::id));
        let called = webhook_calls::table.filter(webhook_calls::event_id.eq(events::id));
        events::table
            .filter(events::id.eq($event))
            .filter(not(exists(waiting)))
            .filter(not(exists(called)))
    }};
}
pub(crate) use untold;

/// Deletes the events without a pending delivery, without a recorded call and outside the feed.
pub(crate) fn drop_told(
    connection: &mut SqliteConnection,
    candidates: &[String],
) -> QueryResult<()> {
    for event in candidates {
        let told = untold!(event).filter(diesel::dsl::not(events::in_feed));
        diesel::delete(told).execute(connection)?;
    }
    Ok(())
}
