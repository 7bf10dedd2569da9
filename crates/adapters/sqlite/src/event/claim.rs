//! Hands out deliveries that are due, each to one caller.

use crate::connection::error::Failure;
use diesel::prelude::*;
use dwar_event::{ClaimCapacity, Dispatch};
use dwar_kernel::{EndpointId, StoreError, Timestamp};
use dwar_sql::schema::{event_deliveries, events, webhook_endpoints};
use dwar_sql::{At, EndpointRow, EventRow, Id, Row, WaitingRow, legible, readable};
use std::time::Duration;

/// One index look-up per endpoint, however many deliveries wait for it.
const WAITING: &str = "SELECT id, failing, due_at FROM ( \
     SELECT e.id, e.failures > 0 AS failing, \
            (SELECT min(d.due_at) FROM event_deliveries d WHERE d.endpoint_id = e.id) AS due_at \
     FROM webhook_endpoints e WHERE e.disabled_at IS NULL \
 ) WHERE due_at <= ?";

/// Leases the due deliveries and hands them out, to each endpoint up to its places.
pub(crate) fn claim(
    connection: &mut SqliteConnection,
    now: Timestamp,
    lease: Duration,
    room: &ClaimCapacity,
) -> Result<Vec<Dispatch>, Failure> {
    let waiting: Vec<WaitingRow> =
        diesel::sql_query(WAITING).bind::<At, _>(At::from(now)).load(connection)?;
    let mut claimed = Vec::new();
    for (endpoint, places) in room.share(readable!(waiting)) {
        claim_of(connection, endpoint, places, now, lease, &mut claimed)?;
    }
    claimed.sort_by_key(|(due_at, _)| *due_at);
    Ok(claimed.into_iter().map(|(_, dispatch)| dispatch).collect())
}

/// Hands out the longest-waiting deliveries of an endpoint, up to its places.
fn claim_of(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
    places: u32,
    now: Timestamp,
    lease: Duration,
    claimed: &mut Vec<(Timestamp, Dispatch)>,
) -> Result<(), Failure> {
    let due = event_deliveries::table
        .inner_join(events::table)
        .inner_join(webhook_endpoints::table)
        .filter(event_deliveries::endpoint_id.eq(Id::from(endpoint)))
        .filter(event_deliveries::due_at.le(At::from(now)))
        .order((event_deliveries::due_at, event_deliveries::event_id))
        .limit(i64::from(places))
        .select((
            event_deliveries::due_at,
            event_deliveries::failures,
            EventRow::as_select(),
            EndpointRow::as_select(),
        ))
        .load::<(At, i32, EventRow, EndpointRow)>(connection)?;
    for (due_at, failures, event, endpoint) in due {
        diesel::update(event_deliveries::table.find((&event.id, endpoint.id)))
            .set(event_deliveries::due_at.eq(At::from(now + lease)))
            .execute(connection)?;
        claimed.extend(legible!(dispatch(due_at, failures, endpoint, event)));
    }
    Ok(())
}

fn dispatch(
    due_at: At,
    failures: i32,
    endpoint: EndpointRow,
    event: EventRow,
) -> Result<(Timestamp, Dispatch), StoreError> {
    let row = Row::new("event_deliveries", &event.id);
    let (due_at, failures) = (row.at("due_at", due_at)?, row.count("failures", failures)?);
    let (endpoint, event) = (endpoint.try_into()?, event.try_into()?);
    Ok((due_at, Dispatch { endpoint, event, failures }))
}
