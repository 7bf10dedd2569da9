use crate::PostgresStore;
use crate::connection::error::Failure;
use crate::connection::statement::Statement;
use crate::connection::sweep::Turn;
use crate::event::told::{drop_told, lock_events};
use diesel::prelude::*;
use dwar_event::EndpointCall;
use dwar_kernel::StoreError;
use dwar_sql::schema::webhook_calls;
use dwar_sql::{CallRow, Id};

/// A statement that puts a call on record and does something to the delivery it is about.
macro_rules! logging {
    ($change:literal) => {
        concat!(
            ", changed AS (",
            $change,
            " WHERE d.event_id = given.event_id AND d.endpoint_id = given.endpoint_id \
             ), logged AS ( \
                 INSERT INTO webhook_calls (id, endpoint_id, event_id, kind, number, called_at, \
                                            took_ms, outcome, status, again_at, failed) \
                 SELECT id, endpoint_id, event_id, kind, number, called_at, \
                        took_ms, outcome, status, again_at, failed FROM given \
                 ON CONFLICT DO NOTHING \
             ) SELECT"
        )
    };
}

const OVER: &str = logging!("DELETE FROM event_deliveries d USING given");
const PUT_OFF: &str = logging!(
    "UPDATE event_deliveries d SET failures = d.failures + 1, due_at = given.again_at FROM given"
);

fn log(conn: &mut PgConnection, sql: &'static str, call: &EndpointCall) -> Result<(), Failure> {
    given!(
        Statement::new(sql), webhook_calls of CallRow::from(call),
        id endpoint_id event_id kind number called_at took_ms outcome status again_at failed
    )
    .execute(conn)?;
    Ok(())
}

/// Puts the last call of a series on record; the caller holds its endpoint.
pub(crate) fn over(conn: &mut PgConnection, call: &EndpointCall) -> Result<(), Failure> {
    log(conn, OVER, call)
}

/// Puts a call on record that there is another one after; the caller holds its endpoint.
pub(crate) fn put_off(conn: &mut PgConnection, call: &EndpointCall) -> Result<(), Failure> {
    log(conn, PUT_OFF, call)
}

impl PostgresStore {
    /// Drops the calls that `find` gives, a batch in one transaction, until it finds fewer.
    pub(crate) async fn drop_calls<F>(&self, find: F) -> Result<u64, StoreError>
    where
        F: Fn(&mut PgConnection) -> QueryResult<Vec<(Id, String)>> + Clone + Send + 'static,
    {
        self.in_turns("call.drop_calls", move |conn| {
            let found = find(conn)?;
            Ok(Turn { taken: found.len(), gone: drop_calls(conn, found)? })
        })
        .await
    }
}

/// Drops these calls, and the events that nothing else keeps: events are locked before calls.
fn drop_calls(conn: &mut PgConnection, calls: Vec<(Id, String)>) -> QueryResult<usize> {
    let (calls, told): (Vec<_>, Vec<_>) = calls.into_iter().unzip();
    let told = lock_events(conn, told)?;
    let gone = webhook_calls::table.filter(webhook_calls::id.eq_any(&calls));
    let gone = diesel::delete(gone).execute(conn)?;
    drop_told(conn, &told)?;
    Ok(gone)
}
