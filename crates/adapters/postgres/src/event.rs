//! What happened, and who still has to be told.
//!
//! Rows are locked in this order: an endpoint, its events, their deliveries. Whoever records holds
//! the project's endpoints, so that none of them goes before the event is on record.

use crate::error::Failure;
use crate::event_claim;
use crate::event_row::{EndpointRow, EventRow};
use crate::schema::{event_deliveries, events, webhook_endpoints};
use crate::statement::Statement;
use crate::{PostgresStore, SWEEP_BATCH};
use async_trait::async_trait;
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use dwar_event::{Dispatch, Endpoint, Event, EventStore, FailedCall, NewSecret, Room};
use dwar_kernel::{EndpointId, KeyMode, ProjectId, StoreError, Timestamp};
use std::time::Duration;
use uuid::Uuid;

/// Common table expressions that put an event on record for every endpoint of its project.
///
/// They follow a CTE `happened`: the columns of `events` that are named, and always `id`,
/// `project_id`, `mode`, `kind` and `happened_at`, in one row if there is an event, else none. It
/// MUST read from the CTE that made the change, so that what the change locks is locked first.
///
/// Without an endpoint nothing is written. One that is being removed is waited for and then not
/// there: its key is shared, so neither a change of its secret nor another event waits. An event
/// that is on record already changes nothing.
macro_rules! recording {
    ($columns:literal) => {
        concat!(
            "hearing AS ( \
                 SELECT e.id FROM webhook_endpoints e \
                 WHERE e.project_id = (SELECT project_id FROM happened) \
                 AND e.disabled_at IS NULL FOR KEY SHARE \
             ), recorded AS ( \
                 INSERT INTO events (id, project_id, mode, kind, happened_at, ",
            $columns,
            ") SELECT id, project_id, mode, kind, happened_at, ",
            $columns,
            "    FROM happened WHERE (SELECT count(*) FROM hearing) > 0 \
                 ON CONFLICT DO NOTHING RETURNING id, happened_at \
             ), addressed AS ( \
                 INSERT INTO event_deliveries (event_id, endpoint_id, failures, due_at) \
                 SELECT recorded.id, hearing.id, 0, recorded.happened_at \
                 FROM recorded CROSS JOIN hearing \
             )"
        )
    };
}

const RECORD: &str = concat!(
    ", happened AS (SELECT * FROM given), ",
    recording!(
        "subject_id, related_id, channel, phone_index, phone_sealed, amount, threshold, provider"
    ),
    " SELECT"
);

/// Puts an event on record for every endpoint of its project, in one statement.
pub(crate) fn record(conn: &mut PgConnection, event: &Event) -> Result<(), Failure> {
    let row = EventRow::from(event);
    Statement::new(RECORD)
        .given::<Text, _>("id", row.id)
        .given::<SqlUuid, _>("project_id", row.project_id)
        .given::<Text, _>("mode", row.mode)
        .given::<Text, _>("kind", row.kind)
        .given::<Timestamptz, _>("happened_at", row.happened_at)
        .given::<SqlUuid, _>("subject_id", row.subject_id)
        .given::<Nullable<SqlUuid>, _>("related_id", row.related_id)
        .given::<Nullable<Text>, _>("channel", row.channel)
        .given::<Nullable<Binary>, _>("phone_index", row.phone_index)
        .given::<Nullable<Binary>, _>("phone_sealed", row.phone_sealed)
        .given::<Nullable<BigInt>, _>("amount", row.amount)
        .given::<Nullable<BigInt>, _>("threshold", row.threshold)
        .given::<Nullable<Text>, _>("provider", row.provider)
        .execute(conn)?;
    Ok(())
}

/// Takes a phone's number out of what is still to be told.
pub(crate) fn forget_phone(
    conn: &mut PgConnection,
    project: ProjectId,
    mode: KeyMode,
    phone: &[u8],
) -> QueryResult<usize> {
    // In the order in which whoever removes an endpoint locks them.
    let of_phone: Vec<String> = events::table
        .filter(events::project_id.eq(project.uuid()))
        .filter(events::mode.eq(mode.as_str()))
        .filter(events::phone_index.eq(phone))
        .order(events::id)
        .select(events::id)
        .for_update()
        .load(conn)?;
    let nothing = None::<Vec<u8>>;
    diesel::update(events::table.filter(events::id.eq_any(of_phone)))
        .set((events::phone_index.eq(&nothing), events::phone_sealed.eq(&nothing)))
        .execute(conn)
}

#[async_trait]
impl EventStore for PostgresStore {
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<(), StoreError> {
        self.pool
            .transaction(move |conn| {
                diesel::insert_into(webhook_endpoints::table)
                    .values(EndpointRow::from(&endpoint))
                    .execute(conn)?;
                Ok(())
            })
            .await
    }

    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError> {
        self.pool
            .run(move |conn| {
                let rows: Vec<EndpointRow> = webhook_endpoints::table
                    .filter(webhook_endpoints::project_id.eq(project.uuid()))
                    .order((webhook_endpoints::created_at, webhook_endpoints::id))
                    .select(EndpointRow::as_select())
                    .load(conn)?;
                Ok(rows.into_iter().map(Endpoint::try_from).collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn remove_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.pool
            .transaction(move |conn| {
                let found: Option<Uuid> = webhook_endpoints::table
                    .find(endpoint.uuid())
                    .filter(webhook_endpoints::project_id.eq(project.uuid()))
                    .select(webhook_endpoints::id)
                    .for_update()
                    .first(conn)
                    .optional()?;
                let Some(found) = found else { return Ok(false) };
                let untold: Vec<String> = event_deliveries::table
                    .filter(event_deliveries::endpoint_id.eq(found))
                    .select(event_deliveries::event_id)
                    .load(conn)?;
                let untold: Vec<String> = events::table
                    .filter(events::id.eq_any(untold))
                    .order(events::id)
                    .select(events::id)
                    .for_update()
                    .load(conn)?;
                // Its deliveries go with it.
                diesel::delete(webhook_endpoints::table.find(found)).execute(conn)?;
                drop_told(conn, &untold)?;
                Ok(true)
            })
            .await
    }

    async fn replace_secret(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        secret: NewSecret,
    ) -> Result<bool, StoreError> {
        self.pool
            .transaction(move |conn| {
                let found = lock(conn, endpoint)?.filter(|found| found.project == project);
                let Some(mut found) = found else { return Ok(false) };
                found.replace_secret(secret.clone());
                save(conn, &found)?;
                Ok(true)
            })
            .await
    }

    async fn enable_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.pool
            .transaction(move |conn| {
                let found = lock(conn, endpoint)?.filter(|found| found.project == project);
                let Some(mut found) = found else { return Ok(false) };
                found.enable();
                save(conn, &found)?;
                Ok(true)
            })
            .await
    }

    async fn disabled_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError> {
        self.pool
            .run(move |conn| {
                let rows: Vec<EndpointRow> = webhook_endpoints::table
                    .filter(webhook_endpoints::disabled_at.is_not_null())
                    .order((webhook_endpoints::disabled_at, webhook_endpoints::id))
                    .limit(i64::from(limit))
                    .select(EndpointRow::as_select())
                    .load(conn)?;
                Ok(rows.into_iter().map(Endpoint::try_from).collect::<Result<_, _>>()?)
            })
            .await
    }

    async fn record(&self, event: Event) -> Result<(), StoreError> {
        self.pool.transaction(move |conn| record(conn, &event)).await
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        room: Room,
    ) -> Result<Vec<Dispatch>, StoreError> {
        self.pool.transaction(move |conn| event_claim::claim(conn, now, lease, &room)).await
    }

    async fn delivered(&self, endpoint: EndpointId, event: String) -> Result<(), StoreError> {
        self.pool
            .transaction(move |conn| {
                // The one that answers, as nearly all do, is not written.
                let failing: Option<Uuid> = webhook_endpoints::table
                    .find(endpoint.uuid())
                    .filter(webhook_endpoints::failures.gt(0))
                    .select(webhook_endpoints::id)
                    .first(conn)
                    .optional()?;
                if failing.is_some()
                    && let Some(mut known) = lock(conn, endpoint)?
                {
                    known.after_success();
                    save(conn, &known)?;
                }
                strike(conn, endpoint, &event)
            })
            .await
    }

    async fn failed(
        &self,
        endpoint: EndpointId,
        event: String,
        call: FailedCall,
    ) -> Result<Option<Endpoint>, StoreError> {
        self.pool
            .transaction(move |conn| {
                let Some(mut known) = lock(conn, endpoint)? else { return Ok(None) };
                let told = known.after_failure(call.switch_off, call.at);
                save(conn, &known)?;
                if let Some(told) = &told {
                    record(conn, told)?;
                }
                match call.again {
                    None => strike(conn, endpoint, &event)?,
                    Some(again) => {
                        diesel::update(event_deliveries::table.find((&event, endpoint.uuid())))
                            .set((
                                event_deliveries::failures.eq(event_deliveries::failures + 1),
                                event_deliveries::due_at.eq(again),
                            ))
                            .execute(conn)?;
                    }
                }
                Ok(told.map(|_| known))
            })
            .await
    }

    async fn give_up(&self, endpoint: EndpointId, event: String) -> Result<(), StoreError> {
        self.pool.transaction(move |conn| strike(conn, endpoint, &event)).await
    }

    async fn drop_untold(&self) -> Result<u64, StoreError> {
        let mut dropped = 0;
        loop {
            let batch = self.pool.transaction(drop_untold_batch).await?;
            dropped += u64::try_from(batch).unwrap_or(u64::MAX);
            if i64::try_from(batch).is_ok_and(|batch| batch < SWEEP_BATCH) {
                return Ok(dropped);
            }
        }
    }
}

/// Locks an endpoint against every other change of it; events are recorded for it meanwhile.
fn lock(conn: &mut PgConnection, endpoint: EndpointId) -> Result<Option<Endpoint>, Failure> {
    let row: Option<EndpointRow> = webhook_endpoints::table
        .find(endpoint.uuid())
        .select(EndpointRow::as_select())
        .for_no_key_update()
        .first(conn)
        .optional()?;
    Ok(row.map(Endpoint::try_from).transpose()?)
}

/// Writes down an endpoint that the caller has locked.
fn save(conn: &mut PgConnection, endpoint: &Endpoint) -> QueryResult<()> {
    let row = webhook_endpoints::table.find(endpoint.id.uuid());
    diesel::update(row).set(EndpointRow::from(endpoint)).execute(conn)?;
    Ok(())
}

/// Nobody tells the endpoint any more.
fn strike(conn: &mut PgConnection, endpoint: EndpointId, event: &str) -> Result<(), Failure> {
    // Of two that strike at once, the later one has to see that it is the last.
    let found: Option<String> =
        events::table.find(event).select(events::id).for_update().first(conn).optional()?;
    let Some(found) = found else { return Ok(()) };
    diesel::delete(event_deliveries::table.find((&found, endpoint.uuid()))).execute(conn)?;
    drop_told(conn, &[found])?;
    Ok(())
}

/// Drops some of what endpoints that are switched off wait for; gives the number of deliveries.
fn drop_untold_batch(conn: &mut PgConnection) -> Result<usize, Failure> {
    let off = webhook_endpoints::table
        .filter(webhook_endpoints::disabled_at.is_not_null())
        .select(webhook_endpoints::id);
    let off: Vec<Uuid> = off.load(conn)?;
    if off.is_empty() {
        return Ok(0);
    }
    let untold: Vec<String> = event_deliveries::table
        .filter(event_deliveries::endpoint_id.eq_any(&off))
        .limit(SWEEP_BATCH)
        .select(event_deliveries::event_id)
        .load(conn)?;
    let locked: Vec<String> = events::table
        .filter(events::id.eq_any(untold))
        .order(events::id)
        .select(events::id)
        .for_update()
        .load(conn)?;
    let gone = event_deliveries::table
        .filter(event_deliveries::event_id.eq_any(&locked))
        .filter(event_deliveries::endpoint_id.eq_any(&off));
    let gone = diesel::delete(gone).execute(conn)?;
    drop_told(conn, &locked)?;
    Ok(gone)
}

/// Drops those of the events, locked by the caller, that nobody waits for.
fn drop_told(conn: &mut PgConnection, candidates: &[String]) -> QueryResult<usize> {
    let waiting = event_deliveries::table.filter(event_deliveries::event_id.eq(events::id));
    let told = events::table.filter(events::id.eq_any(candidates)).filter(not(exists(waiting)));
    diesel::delete(told).execute(conn)
}
