use crate::connection::error::Failure;
use crate::connection::pool::{SWEEP, SqliteStore};
use crate::connection::remembered::Changes;
use crate::event::{by_id, drop_told};
use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use dwar_event::{Call, CallFilter, CallLog, Event, LoggedCall, Resend, Standing};
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{event_deliveries, events, webhook_calls, webhook_endpoints};
use dwar_sql::{At, CallRow, EventRow, Id, Row};

/// Puts the last call of a series on record.
pub(crate) fn over(connection: &mut SqliteConnection, call: &Call) -> QueryResult<()> {
    let delivery = event_deliveries::table.find((&call.event, Id::from(call.endpoint)));
    diesel::delete(delivery).execute(connection)?;
    log(connection, call)
}

/// Puts a call on record that there is another one after.
pub(crate) fn put_off(
    connection: &mut SqliteConnection,
    call: &Call,
    again: Timestamp,
) -> QueryResult<()> {
    diesel::update(event_deliveries::table.find((&call.event, Id::from(call.endpoint))))
        .set((
            event_deliveries::failures.eq(event_deliveries::failures + 1),
            event_deliveries::due_at.eq(At::from(again)),
        ))
        .execute(connection)?;
    log(connection, call)
}

fn log(connection: &mut SqliteConnection, call: &Call) -> QueryResult<()> {
    diesel::insert_into(webhook_calls::table).values(CallRow::from(call)).execute(connection)?;
    Ok(())
}

#[async_trait]
impl CallLog for SqliteStore {
    async fn calls(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        filter: CallFilter,
        limit: u32,
    ) -> Result<Vec<LoggedCall>, StoreError> {
        self.of(project)
            .scan(move |connection| {
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
                    .load(connection)?;
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
        self.of(project)
            .write_that(Changes::NoLookUp, move |connection| {
                resend(connection, project, endpoint, &event, now)
            })
            .await
    }

    async fn address(
        &self,
        event: Event,
        endpoint: EndpointId,
        due_at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.of(event.project)
            .write_that(Changes::NoLookUp, move |connection| {
                let Some(known) = by_id(connection, event.project, endpoint)? else {
                    return Ok(false);
                };
                let row = EventRow::from(&event);
                let fresh = diesel::insert_into(events::table)
                    .values(&row)
                    .on_conflict_do_nothing()
                    .execute(connection)?;
                if fresh == 0 {
                    return Ok(false);
                }
                insert_delivery(connection, &row.id, known.id, due_at)?;
                Ok(true)
            })
            .await
    }

    async fn trim_calls(&self, endpoint: EndpointId, kept: u32) -> Result<u64, StoreError> {
        self.drain(move |connection| {
            let beyond: Vec<(Id, String)> = webhook_calls::table
                .filter(webhook_calls::endpoint_id.eq(Id::from(endpoint)))
                .order(webhook_calls::id.desc())
                .offset(kept.into())
                .limit(SWEEP.into())
                .select((webhook_calls::id, webhook_calls::event_id))
                .load(connection)?;
            drop_calls(connection, &beyond)
        })
        .await
    }

    async fn sweep_calls(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.drain(move |connection| {
            let old: Vec<(Id, String)> = webhook_calls::table
                .filter(webhook_calls::called_at.lt(At::from(before)))
                .order(webhook_calls::called_at)
                .limit(SWEEP.into())
                .select((webhook_calls::id, webhook_calls::event_id))
                .load(connection)?;
            drop_calls(connection, &old)
        })
        .await
    }
}

fn resend(
    connection: &mut SqliteConnection,
    project: ProjectId,
    endpoint: EndpointId,
    event: &str,
    now: Timestamp,
) -> Result<Resend, Failure> {
    let Some(known) = by_id(connection, project, endpoint)? else { return Ok(Resend::Gone) };
    let on_record: Option<String> = events::table
        .find(event)
        .filter(events::project_id.eq(Id::from(project)))
        .select(events::id)
        .first(connection)
        .optional()?;
    let delivery = event_deliveries::table.find((event, known.id));
    let due: Option<At> = delivery.select(event_deliveries::due_at).first(connection).optional()?;
    let last: Option<At> = webhook_calls::table
        .filter(webhook_calls::event_id.eq(event))
        .filter(webhook_calls::endpoint_id.eq(known.id))
        .select(webhook_calls::called_at)
        .order(webhook_calls::called_at.desc())
        .first(connection)
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
        (Resend::Queued, None) => insert_delivery(connection, event, known.id, now)?,
        (Resend::Queued, Some(_)) => {
            let due_at = event_deliveries::due_at.eq(At::from(now));
            diesel::update(delivery).set(due_at).execute(connection)?;
        }
        _ => {}
    }
    Ok(answer)
}

fn insert_delivery(
    connection: &mut SqliteConnection,
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
    diesel::insert_into(event_deliveries::table).values(delivery).execute(connection)?;
    Ok(())
}

/// Drops these calls, and the events that nothing else keeps.
fn drop_calls(connection: &mut SqliteConnection, calls: &[(Id, String)]) -> QueryResult<usize> {
    let ids = calls.iter().map(|(id, _)| *id);
    diesel::delete(webhook_calls::table.filter(webhook_calls::id.eq_any(ids)))
        .execute(connection)?;
    drop_told(connection, calls.iter().map(|(_, event)| event))?;
    Ok(calls.len())
}
