//! What endpoints were told, and what they are told again.
//!
//! Calls come last in the order of locks: after endpoint, event and delivery.

use crate::dialect::{Conn, Failure, SWEEP_BATCH, Store};
use async_trait::async_trait;
use diesel::dsl::exists;
use diesel::prelude::*;
use dwar_event::{
    CallFilter, CallLog, Endpoint, EndpointCall, Event, LoggedCall, Resend, ResendState,
};
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{event_deliveries, events, webhook_calls, webhook_endpoints};
use dwar_sql::{At, CallRow, EndpointRow, EventRow, Id, Row, read_one};

#[async_trait]
impl CallLog for Store {
    async fn calls(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        filter: CallFilter,
        limit: u32,
    ) -> Result<Vec<LoggedCall>, StoreError> {
        self.of(project)
            .scan("event.calls", move |conn| {
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
                let logged = |(row, on_record)| {
                    Ok(LoggedCall { call: EndpointCall::try_from(row)?, on_record })
                };
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
            .write("event.resend", move |conn| resend(conn, project, endpoint, &event, now))
            .await
    }

    async fn address(
        &self,
        event: Event,
        endpoint: EndpointId,
        due_at: Timestamp,
    ) -> Result<bool, StoreError> {
        self.of(event.project_mode.project)
            .write("event.address", move |conn| {
                let known = webhook_endpoints::table
                    .find(Id::from(endpoint))
                    .filter(webhook_endpoints::project_id.eq(Id::from(event.project_mode.project)))
                    .select(webhook_endpoints::id);
                let known: Option<Id> = for_key_share!(known).first(conn).optional()?;
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

fn resend(
    conn: &mut Conn,
    project: ProjectId,
    endpoint: EndpointId,
    event: &str,
    now: Timestamp,
) -> Result<Resend, Failure> {
    let known = webhook_endpoints::table
        .find(Id::from(endpoint))
        .filter(webhook_endpoints::project_id.eq(Id::from(project)));
    let known: Option<Endpoint> = read_one!(EndpointRow of for_no_key_update!(known), conn);
    let Some(known) = known else { return Ok(Resend::Gone) };
    let on_record = events::table
        .find(event)
        .filter(events::project_id.eq(Id::from(project)))
        .select(events::id);
    let on_record: Option<String> = for_key_share!(on_record).first(conn).optional()?;
    let delivery = event_deliveries::table.find((event, Id::from(endpoint)));
    let due = delivery.select(event_deliveries::due_at);
    let due: Option<At> = for_update!(due).first(conn).optional()?;
    let last: Option<At> = webhook_calls::table
        .filter(webhook_calls::event_id.eq(event))
        .filter(webhook_calls::endpoint_id.eq(Id::from(endpoint)))
        .select(webhook_calls::called_at)
        .order(webhook_calls::called_at.desc())
        .first(conn)
        .optional()?;
    let read = Row::new("event_deliveries", event);
    let state = ResendState {
        off: known.disabled_at.is_some(),
        on_record: on_record.is_some(),
        last: read.maybe_at("called_at", last)?,
        due_at: read.maybe_at("due_at", due)?,
    };
    let answer = state.resend(now);
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
    conn: &mut Conn,
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
