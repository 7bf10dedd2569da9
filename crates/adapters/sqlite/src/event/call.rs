use crate::connection::error::Failure;
use crate::connection::pool::{SWEEP, SqliteStore};
use crate::event::told::drop_told;
use diesel::prelude::*;
use dwar_event::EndpointCall;
use dwar_kernel::StoreError;
use dwar_sql::schema::{event_deliveries, webhook_calls};
use dwar_sql::{At, CallRow, Id};

pub(crate) fn over(
    connection: &mut SqliteConnection,
    calls: &[&EndpointCall],
) -> Result<(), Failure> {
    for call in calls {
        let delivery = event_deliveries::table.find((&call.event, Id::from(call.endpoint)));
        diesel::delete(delivery).execute(connection)?;
        log(connection, call)?;
    }
    Ok(())
}

/// Records a call that will be followed by another one.
pub(crate) fn put_off(
    connection: &mut SqliteConnection,
    call: &EndpointCall,
) -> Result<(), Failure> {
    let Some(again) = call.again else { return over(connection, &[call]) };
    diesel::update(event_deliveries::table.find((&call.event, Id::from(call.endpoint))))
        .set((
            event_deliveries::failures.eq(event_deliveries::failures + 1),
            event_deliveries::due_at.eq(At::from(again)),
        ))
        .execute(connection)?;
    log(connection, call)
}

fn log(connection: &mut SqliteConnection, call: &EndpointCall) -> Result<(), Failure> {
    diesel::insert_into(webhook_calls::table)
        .values(CallRow::from(call))
        .on_conflict_do_nothing()
        .execute(connection)?;
    Ok(())
}

impl SqliteStore {
    /// Deletes the calls that `find` returns, in batches, until it finds fewer.
    pub(crate) async fn drop_calls<F>(&self, find: F) -> Result<u64, StoreError>
    where
        F: Fn(&mut SqliteConnection) -> QueryResult<Vec<(Id, String)>> + Clone + Send + 'static,
    {
        self.drain_by(SWEEP, move |connection| {
            let found = find(connection)?;
            drop_calls(connection, found)
        })
        .await
    }
}

/// Deletes these calls, and the events that nothing else needs.
fn drop_calls(connection: &mut SqliteConnection, calls: Vec<(Id, String)>) -> QueryResult<usize> {
    let (calls, told): (Vec<Id>, Vec<String>) = calls.into_iter().unzip();
    diesel::delete(webhook_calls::table.filter(webhook_calls::id.eq_any(&calls)))
        .execute(connection)?;
    drop_told(connection, &told)?;
    Ok(calls.len())
}
