//! What happened, and who still has to be told.
//!
//! Rows are locked in this order: an endpoint, its events, their deliveries. Whoever records holds
//! the project's endpoints, so that none of them goes before the event is on record.

use crate::convert::{Row, stored_count};
use crate::error::Failure;
use crate::event_row::{EndpointRow, EventRow};
use crate::schema::{event_deliveries, events, webhook_endpoints};
use crate::{PostgresStore, SWEEP_BATCH};
use async_trait::async_trait;
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use diesel::sql_types::{Array, Bool, Integer, Text, Timestamptz, Uuid as SqlUuid};
use diesel::upsert::excluded;
use dwar_event::{
    Dispatch, Endpoint, Event, EventStore, FailedCall, NewSecret, Room, WaitingEndpoint,
};
use dwar_kernel::{EndpointId, KeyMode, ProjectId, StoreError, Timestamp};
use std::collections::HashMap;
use std::time::Duration;
use uuid::Uuid;

/// One look-up by index for each endpoint, however much it waits for.
const WAITING: &str = "SELECT e.id, e.failures > 0 AS failing, d.due_at \
     FROM webhook_endpoints e CROSS JOIN LATERAL ( \
         SELECT due_at FROM event_deliveries \
         WHERE endpoint_id = e.id AND due_at <= $1 ORDER BY due_at LIMIT 1 \
     ) d WHERE e.disabled_at IS NULL";

/// Of each endpoint as many as it has places.
const DUE: &str = "SELECT d.* FROM unnest($1, $2) AS share (endpoint, places) CROSS JOIN LATERAL ( \
         SELECT event_id, endpoint_id, failures, due_at FROM event_deliveries \
         WHERE endpoint_id = share.endpoint AND due_at <= $3 \
         ORDER BY due_at, event_id LIMIT share.places FOR UPDATE SKIP LOCKED \
     ) d ORDER BY d.due_at, d.event_id, d.endpoint_id";

#[derive(QueryableByName, Insertable)]
#[diesel(table_name = event_deliveries)]
struct DeliveryRow {
    #[diesel(sql_type = Text)]
    event_id: String,
    #[diesel(sql_type = SqlUuid)]
    endpoint_id: Uuid,
    #[diesel(sql_type = Integer)]
    failures: i32,
    #[diesel(sql_type = Timestamptz)]
    due_at: Timestamp,
}

#[derive(QueryableByName)]
struct WaitingRow {
    #[diesel(sql_type = SqlUuid)]
    id: Uuid,
    #[diesel(sql_type = Bool)]
    failing: bool,
    #[diesel(sql_type = Timestamptz)]
    due_at: Timestamp,
}

/// Puts an event on record for every endpoint of its project; without any, that is all it asks.
pub(crate) fn record(conn: &mut PgConnection, event: &Event) -> Result<(), Failure> {
    // An endpoint that is being removed is waited for and then not there: its key is shared, so
    // neither a change of its secret nor another event waits.
    let endpoints: Vec<Uuid> = webhook_endpoints::table
        .filter(webhook_endpoints::project_id.eq(event.project.uuid()))
        .filter(webhook_endpoints::disabled_at.is_null())
        .select(webhook_endpoints::id)
        .for_key_share()
        .load(conn)?;
    if endpoints.is_empty() {
        return Ok(());
    }
    let row = EventRow::from(event);
    let event_id = row.id.clone();
    let new =
        diesel::insert_into(events::table).values(row).on_conflict_do_nothing().execute(conn)?;
    if new == 0 {
        return Ok(());
    }
    let delivery = |endpoint_id| DeliveryRow {
        event_id: event_id.clone(),
        endpoint_id,
        failures: 0,
        due_at: event.at,
    };
    let deliveries: Vec<_> = endpoints.into_iter().map(delivery).collect();
    diesel::insert_into(event_deliveries::table).values(deliveries).execute(conn)?;
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
                let untold = event_deliveries::table
                    .filter(event_deliveries::endpoint_id.eq(found))
                    .select(event_deliveries::event_id);
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
        self.pool
            .transaction(move |conn| {
                let waiting: Vec<WaitingRow> =
                    diesel::sql_query(WAITING).bind::<Timestamptz, _>(now).load(conn)?;
                let waiting = waiting.into_iter().map(|row| WaitingEndpoint {
                    endpoint: row.id.into(),
                    failing: row.failing,
                    due_at: row.due_at,
                });
                let shares = room.share(waiting.collect());
                if shares.is_empty() {
                    return Ok(Vec::new());
                }
                let (endpoints, places): (Vec<_>, Vec<_>) = shares
                    .into_iter()
                    .map(|(endpoint, places)| (endpoint.uuid(), stored_count(places)))
                    .unzip();
                let mut due: Vec<DeliveryRow> = diesel::sql_query(DUE)
                    .bind::<Array<SqlUuid>, _>(endpoints)
                    .bind::<Array<Integer>, _>(places)
                    .bind::<Timestamptz, _>(now)
                    .load(conn)?;
                if due.is_empty() {
                    return Ok(Vec::new());
                }
                for delivery in &mut due {
                    delivery.due_at = now + lease;
                }
                lease_out(conn, &due)?;
                complete(conn, due)
            })
            .await
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

/// Writes down when deliveries, locked by the caller, are due again.
fn lease_out(conn: &mut PgConnection, deliveries: &[DeliveryRow]) -> QueryResult<usize> {
    // An update of many pairs at once: every one of them is there.
    diesel::insert_into(event_deliveries::table)
        .values(deliveries)
        .on_conflict((event_deliveries::event_id, event_deliveries::endpoint_id))
        .do_update()
        .set(event_deliveries::due_at.eq(excluded(event_deliveries::due_at)))
        .execute(conn)
}

/// Rebuilds deliveries, in the order given.
fn complete(
    conn: &mut PgConnection,
    deliveries: Vec<DeliveryRow>,
) -> Result<Vec<Dispatch>, Failure> {
    let told: Vec<EventRow> = events::table
        .filter(events::id.eq_any(deliveries.iter().map(|delivery| &delivery.event_id)))
        .select(EventRow::as_select())
        .load(conn)?;
    let hearing: Vec<EndpointRow> = webhook_endpoints::table
        .filter(webhook_endpoints::id.eq_any(deliveries.iter().map(|d| d.endpoint_id)))
        .select(EndpointRow::as_select())
        .load(conn)?;
    let by_id = |row: EventRow| Ok((row.id.clone(), Event::try_from(row)?));
    let told = told.into_iter().map(by_id).collect::<Result<HashMap<_, _>, StoreError>>()?;
    let by_id = |row: EndpointRow| Ok((row.id, Endpoint::try_from(row)?));
    let hearing = hearing.into_iter().map(by_id).collect::<Result<HashMap<_, _>, StoreError>>()?;
    let dispatch = |row: DeliveryRow| {
        let read = Row::new("event_deliveries", &row.event_id);
        Ok(Dispatch {
            endpoint: read.known("endpoint_id", hearing.get(&row.endpoint_id).cloned())?,
            event: read.known("event_id", told.get(&row.event_id).cloned())?,
            failures: read.count("failures", row.failures)?,
        })
    };
    deliveries.into_iter().map(dispatch).collect()
}
