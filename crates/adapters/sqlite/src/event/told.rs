//! How events leave that nobody waits for any more.

use crate::connection::pool::{SWEEP, SqliteStore};
use diesel::prelude::*;
use dwar_kernel::StoreError;
use dwar_sql::Id;
use dwar_sql::schema::{event_deliveries, events, webhook_endpoints};

impl SqliteStore {
    /// Drops what endpoints that are switched off wait for.
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

/// One thread writes: those that are on record stay until it drops them.
pub(crate) const fn lock_events(
    _connection: &mut SqliteConnection,
    ids: Vec<String>,
) -> QueryResult<Vec<String>> {
    Ok(ids)
}

/// The event, if nobody waits for it and no call of it is on record.
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

/// Drops those of the events that nobody waits for, of which no call is on record, and that no feed gives.
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
