use crate::PostgresStore;
use crate::connection::error::Failure;
use crate::connection::statement::each;
use crate::connection::sweep::SweepTurn;
use crate::event::told::{drop_told, lock_events};
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable, Text};
use dwar_event::EndpointCall;
use dwar_kernel::StoreError;
use dwar_sql::schema::webhook_calls;
use dwar_sql::{At, CallRow, Id};

/// A statement that records calls and changes the deliveries of their events.
macro_rules! logging {
    ($change:literal) => {
        concat!(
            "WITH given AS ( \
                 SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
                     AS g (id, endpoint_id, event_id, kind, number, called_at, \
                           took_ms, outcome, status, again_at, failed) \
             ), due AS ( \
                 SELECT d.event_id, d.endpoint_id, g.again_at FROM event_deliveries d JOIN given g \
                     ON g.event_id = d.event_id AND g.endpoint_id = d.endpoint_id \
                 ORDER BY d.event_id, d.endpoint_id FOR UPDATE OF d \
             ), changed AS (",
            $change,
            " WHERE d.event_id = due.event_id AND d.endpoint_id = due.endpoint_id \
             ) INSERT INTO webhook_calls (id, endpoint_id, event_id, kind, number, called_at, \
                                          took_ms, outcome, status, again_at, failed) \
             SELECT * FROM given ON CONFLICT DO NOTHING"
        )
    };
}

const OVER: &str = logging!("DELETE FROM event_deliveries d USING due");
const PUT_OFF: &str = logging!(
    "UPDATE event_deliveries d SET failures = d.failures + 1, due_at = due.again_at FROM due"
);

fn log(conn: &mut PgConnection, sql: &'static str, calls: &[&EndpointCall]) -> Result<(), Failure> {
    let rows: Vec<CallRow> = calls.iter().map(|call| CallRow::from(*call)).collect();
    diesel::sql_query(sql)
        .bind::<Array<Id>, _>(each(&rows, |row| row.id))
        .bind::<Array<Id>, _>(each(&rows, |row| row.endpoint_id))
        .bind::<Array<Text>, _>(each(&rows, |row| &row.event_id))
        .bind::<Array<Text>, _>(each(&rows, |row| &row.kind))
        .bind::<Array<Integer>, _>(each(&rows, |row| row.number))
        .bind::<Array<At>, _>(each(&rows, |row| row.called_at))
        .bind::<Array<BigInt>, _>(each(&rows, |row| row.took_ms))
        .bind::<Array<Text>, _>(each(&rows, |row| &row.outcome))
        .bind::<Array<Nullable<Integer>>, _>(each(&rows, |row| row.status))
        .bind::<Array<Nullable<At>>, _>(each(&rows, |row| row.again_at))
        .bind::<Array<Bool>, _>(each(&rows, |row| row.failed))
        .execute(conn)?;
    Ok(())
}

/// Records the last calls of their series; the caller has locked their endpoints.
pub(crate) fn over(conn: &mut PgConnection, calls: &[&EndpointCall]) -> Result<(), Failure> {
    if calls.is_empty() {
        return Ok(());
    }
    log(conn, OVER, calls)
}

/// Records a call that will be followed by another one; the caller has locked its endpoint.
pub(crate) fn put_off(conn: &mut PgConnection, call: &EndpointCall) -> Result<(), Failure> {
    log(conn, PUT_OFF, &[call])
}

impl PostgresStore {
    /// Deletes the calls that `find` returns, one batch per transaction, until it finds fewer.
    pub(crate) async fn drop_calls<F>(&self, find: F) -> Result<u64, StoreError>
    where
        F: Fn(&mut PgConnection) -> QueryResult<Vec<(Id, String)>> + Clone + Send + 'static,
    {
        self.in_turns("call.drop_calls", move |conn| {
            let found = find(conn)?;
            Ok(SweepTurn { taken: found.len(), gone: drop_calls(conn, found)? })
        })
        .await
    }
}

/// Deletes these calls, and the events that nothing else needs. Locks events before calls.
fn drop_calls(conn: &mut PgConnection, calls: Vec<(Id, String)>) -> QueryResult<usize> {
    let (calls, told): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
    let told = lock_events(conn, told)?;
    let gone = webhook_calls::table.filter(webhook_calls::id.eq_any(&calls));
    let gone = diesel::delete(gone).execute(conn)?;
    drop_told(conn, &told)?;
    Ok(gone)
}
