//! What endpoints were told, and what they are told again.
//!
//! A call is the last in the order of locks: after its endpoint, its event and the delivery.

use crate::PostgresStore;
use crate::connection::error::Failure;
use crate::connection::statement::Statement;
use crate::connection::sweep::{SWEEP_BATCH, Turn};
use crate::event::{drop_told, lock, lock_events};
use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use dwar_event::{Call, CallFilter, CallLog, Event, LoggedCall, Resend, Standing};
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{event_deliveries, events, webhook_calls, webhook_endpoints};
use dwar_sql::{At, CallRow, EventRow, Id, Row};

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

fn log(conn: &mut PgConnection, sql: &'static str, call: &Call) -> Result<(), Failure> {
    given!(
        Statement::new(sql), webhook_calls of CallRow::from(call),
        id endpoint_id event_id kind number called_at took_ms outcome status again_at failed
    )
    .execute(conn)?;
    Ok(())
}

/// Puts the last call of a series on record; the caller holds its endpoint.
pub(crate) fn over(conn: &mut PgConnection, call: &Call) -> Result<(), Failure> {
    log(conn, OVER, call)
}

/// Puts a call on record that there is another one after; the caller holds its endpoint.
pub(crate) fn put_off(conn: &mut PgConnection, call: &Call) -> Result<(), Failure> {
    log(conn, PUT_OFF, call)
}

#[async_trait]
impl CallLog for PostgresStore {
    async fn calls(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        filter: CallFilter,
        limit: u32,
    ) -> Result<Vec<LoggedCall>, StoreError> {
        self.pool
            .of(project)
            .run(move |conn| {
                let on_record =
                    exists(events::table.filter(events::id.eq(webhook_calls::event_id)));
                let mut wanted = webhook_calls::table
                    .inner_join(webhook_endpoints::table)
                    .filter(webhook_endpoints::project_id.eq(Id::from(project)))
                    .filter(webhook_calls::endpoint_id.eq(Id::from(endpoint)))
                    .into_boxed();
                if filter.failed {
                    wanted = wanted.filter(webhook_calls::failed);
                }
                if let Some(before) = filter.before {
                    wanted = wanted.filter(webhook_calls::id.lt(Id::from(before)));
                }
                let rows: Vec<(CallRow, bool)> = wanted
                    .order(webhook_calls::id.desc())
                    .limit(limit.into())
                    .select((CallRow::as_select(), on_record))
                    .load(conn)?;
                let logged =
                    |(row, on_record)| Ok(LoggedCall { call: Call::try_from(row)?, on_record });
                Ok(rows.into_iter().map(logged).collect::<Result<_, StoreError>>()?)
            })
            .await
    }

    async fn resend(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        event: String,
        now: Timestamp,
    ) -> Result<Resend, StoreError> {
        self.pool
            .of(project)
            .transaction(move |conn| resend(conn, project, endpoint, &event, now))
            .await
    }

    async fn address(
        &self,
        event: Event,
        endpoint: EndpointId,
        due_at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.pool
            .of(event.project)
            .transaction(move |conn| {
                let known: Option<Id> = webhook_endpoints::table
                    .find(Id::from(endpoint))
                    .filter(webhook_endpoints::project_id.eq(Id::from(event.project)))
                    .select(webhook_endpoints::id)
                    .for_key_share()
                    .first(conn)
                    .optional()?;
                let Some(known) = known else { return Ok(false) };
                let row = EventRow::from(&event);
                let id = row.id.clone();
                let fresh = diesel::insert_into(events::table)
                    .values(row)
                    .on_conflict_do_nothing()
                    .execute(conn)?;
                if fresh == 0 {
                    return Ok(false);
                }
                insert_delivery(conn, &id, known, due_at)?;
                Ok(true)
            })
            .await
    }

    async fn trim_calls(&self, endpoint: EndpointId, kept: u32) -> Result<u64, StoreError> {
        self.drop_calls(move |conn| {
            webhook_calls::table
                .filter(webhook_calls::endpoint_id.eq(Id::from(endpoint)))
                .order(webhook_calls::id.desc())
                .offset(kept.into())
                .limit(SWEEP_BATCH)
                .select((webhook_calls::id, webhook_calls::event_id))
                .load(conn)
        })
        .await
    }

    async fn sweep_calls(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.drop_calls(move |conn| {
            webhook_calls::table
                .filter(webhook_calls::called_at.lt(At::from(before)))
                .order(webhook_calls::called_at)
                .limit(SWEEP_BATCH)
                .select((webhook_calls::id, webhook_calls::event_id))
                .load(conn)
        })
        .await
    }
}

impl PostgresStore {
    /// Drops the calls that `find` gives, a batch in one transaction, until it finds fewer.
    async fn drop_calls<F>(&self, find: F) -> Result<u64, StoreError>
    where
        F: Fn(&mut PgConnection) -> QueryResult<Vec<(Id, String)>> + Clone + Send + 'static,
    {
        self.in_turns(move |conn| {
            let found = find(conn)?;
            Ok(Turn { taken: found.len(), gone: drop_calls(conn, found)? })
        })
        .await
    }
}

fn resend(
    conn: &mut PgConnection,
    project: ProjectId,
    endpoint: EndpointId,
    event: &str,
    now: Timestamp,
) -> Result<Resend, Failure> {
    let known = lock(conn, endpoint)?.filter(|known| known.project == project);
    let Some(known) = known else { return Ok(Resend::Gone) };
    let on_record: Option<String> = events::table
        .find(event)
        .filter(events::project_id.eq(Id::from(project)))
        .select(events::id)
        .for_key_share()
        .first(conn)
        .optional()?;
    let delivery = event_deliveries::table.find((event, Id::from(endpoint)));
    let due: Option<At> =
        delivery.select(event_deliveries::due_at).for_update().first(conn).optional()?;
    let last: Option<At> = webhook_calls::table
        .filter(webhook_calls::event_id.eq(event))
        .filter(webhook_calls::endpoint_id.eq(Id::from(endpoint)))
        .select(webhook_calls::called_at)
        .order(webhook_calls::called_at.desc())
        .first(conn)
        .optional()?;
    let read = Row::new("event_deliveries", event);
    let standing = Standing {
        off: known.disabled_at.is_some(),
        on_record: on_record.is_some(),
        last: read.maybe_at("called_at", last)?,
        due_at: read.maybe_at("due_at", due)?,
    };
    let answer = standing.resend(now);
    match (answer, due) {
        (Resend::Queued, None) => insert_delivery(conn, event, known.id.into(), now)?,
        (Resend::Queued, Some(_)) => {
            let due_at = event_deliveries::due_at.eq(At::from(now));
            diesel::update(delivery).set(due_at).execute(conn)?;
        }
        _ => {}
    }
    Ok(answer)
}

fn insert_delivery(
    conn: &mut PgConnection,
    event: &str,
    endpoint: Id,
    due_at: Timestamp,
) -> QueryResult<()> {
    let delivery = (
        event_deliveries::event_id.eq(event),
        event_deliveries::endpoint_id.eq(endpoint),
        event_deliveries::failures.eq(0),
        event_deliveries::due_at.eq(At::from(due_at)),
    );
    diesel::insert_into(event_deliveries::table).values(delivery).execute(conn)?;
    Ok(())
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
