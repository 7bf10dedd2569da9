//! Hands out deliveries that are due, each to one caller.

use crate::connection::error::Failure;
use diesel::prelude::*;
use diesel::sql_types::{Array, Integer};
use dwar_event::{ClaimCapacity, Dispatch, Endpoint, Event};
use dwar_kernel::Timestamp;
use dwar_sql::schema::{event_deliveries, events, webhook_endpoints};
use dwar_sql::{At, EndpointRow, EventRow, Id, Row, WaitingRow, legible, readable, stored_count};
use std::collections::HashMap;
use std::time::Duration;

/// One index look-up per endpoint, however many deliveries wait for it.
const WAITING: &str = "SELECT e.id, e.failures > 0 AS failing, d.due_at \
     FROM webhook_endpoints e CROSS JOIN LATERAL ( \
         SELECT due_at FROM event_deliveries \
         WHERE endpoint_id = e.id AND due_at <= $1 ORDER BY due_at LIMIT 1 \
     ) d WHERE e.disabled_at IS NULL";

/// Leases as many due deliveries of each endpoint as it has places.
const DUE: &str = "WITH due AS ( \
         SELECT d.* FROM unnest($1, $2) AS share (endpoint, places) CROSS JOIN LATERAL ( \
             SELECT event_id, endpoint_id, failures, due_at FROM event_deliveries \
             WHERE endpoint_id = share.endpoint AND due_at <= $3 \
             ORDER BY due_at, event_id LIMIT share.places FOR UPDATE SKIP LOCKED \
         ) d \
     ), leased AS ( \
         UPDATE event_deliveries d SET due_at = $4 FROM due \
         WHERE d.event_id = due.event_id AND d.endpoint_id = due.endpoint_id \
     ) SELECT event_id, endpoint_id, failures FROM due ORDER BY due_at";

#[derive(QueryableByName)]
#[diesel(table_name = event_deliveries)]
struct DeliveryRow {
    event_id: String,
    endpoint_id: Id,
    failures: i32,
}

/// Leases the due deliveries and hands them out, to each endpoint up to its places.
pub(crate) fn claim(
    conn: &mut PgConnection,
    now: Timestamp,
    lease: Duration,
    room: &ClaimCapacity,
) -> Result<Vec<Dispatch>, Failure> {
    let waiting: Vec<WaitingRow> =
        diesel::sql_query(WAITING).bind::<At, _>(At::from(now)).load(conn)?;
    let shares = room.share(readable!(waiting));
    if shares.is_empty() {
        return Ok(Vec::new());
    }
    let (endpoints, places): (Vec<_>, Vec<_>) = shares
        .into_iter()
        .map(|(endpoint, places)| (Id::from(endpoint), stored_count(places)))
        .unzip();
    let due: Vec<DeliveryRow> = diesel::sql_query(DUE)
        .bind::<Array<Id>, _>(endpoints)
        .bind::<Array<Integer>, _>(places)
        .bind::<At, _>(At::from(now))
        .bind::<At, _>(At::from(now + lease))
        .load(conn)?;
    if due.is_empty() {
        return Ok(Vec::new());
    }
    complete(conn, due)
}

/// Rebuilds the deliveries that can be decoded, in the order given.
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
    let told: HashMap<_, _> = told.into_iter().filter_map(|row| legible!(by_id(row))).collect();
    let by_id = |row: EndpointRow| Ok((row.id, Endpoint::try_from(row)?));
    let hearing: HashMap<_, _> =
        hearing.into_iter().filter_map(|row| legible!(by_id(row))).collect();
    let dispatch = |row: DeliveryRow| {
        let read = Row::new("event_deliveries", &row.event_id);
        Ok(Dispatch {
            endpoint: read.known("endpoint_id", hearing.get(&row.endpoint_id).cloned())?,
            event: read.known("event_id", told.get(&row.event_id).cloned())?,
            failures: read.count("failures", row.failures)?,
        })
    };
    Ok(deliveries.into_iter().filter_map(|row| legible!(dispatch(row))).collect())
}
