use crate::convert::Row;
use crate::error::Failure;
use crate::event_row::{EndpointRow, EventRow};
use crate::pool::{SWEEP, SqliteStore};
use crate::schema::{event_deliveries, events, webhook_endpoints};
use async_trait::async_trait;
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Text};
use dwar_event::{
    Dispatch, Endpoint, Event, EventStore, FailedCall, NewSecret, Room, WaitingEndpoint,
};
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use std::time::Duration;

/// One look-up by index for each endpoint, however much it waits for.
const WAITING: &str = "SELECT id, failing, due_at FROM ( \
     SELECT e.id, e.failures > 0 AS failing, \
            (SELECT min(d.due_at) FROM event_deliveries d WHERE d.endpoint_id = e.id) AS due_at \
     FROM webhook_endpoints e WHERE e.disabled_at IS NULL \
 ) WHERE due_at <= ?";

#[derive(QueryableByName)]
struct WaitingRow {
    #[diesel(sql_type = Text)]
    id: String,
    #[diesel(sql_type = Bool)]
    failing: bool,
    #[diesel(sql_type = BigInt)]
    due_at: i64,
}

impl TryFrom<WaitingRow> for WaitingEndpoint {
    type Error = StoreError;

    fn try_from(stored: WaitingRow) -> Result<Self, StoreError> {
        Ok(Self {
            endpoint: Row::new("webhook_endpoints", &stored.id).parse("id", &stored.id)?,
            failing: stored.failing,
            due_at: Row::new("event_deliveries", &stored.id).instant("due_at", stored.due_at)?,
        })
    }
}

#[async_trait]
impl EventStore for SqliteStore {
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<(), StoreError> {
        let row = EndpointRow::from(endpoint);
        self.write(move |connection| {
            diesel::insert_into(webhook_endpoints::table).values(row).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError> {
        self.read(move |connection| {
            let rows = webhook_endpoints::table
                .filter(webhook_endpoints::project_id.eq(project.to_string()))
                .order((webhook_endpoints::created_at, webhook_endpoints::id))
                .select(EndpointRow::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(Endpoint::try_from).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn remove_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let Some(row) = by_id(connection, project, endpoint)? else { return Ok(false) };
            let id = endpoint.to_string();
            let its = event_deliveries::table
                .filter(event_deliveries::endpoint_id.eq(&id))
                .select(event_deliveries::event_id);
            let others = event_deliveries::table
                .filter(event_deliveries::event_id.eq(events::id))
                .filter(event_deliveries::endpoint_id.ne(&id));
            let its_alone =
                events::table.filter(events::id.eq_any(its)).filter(not(exists(others)));
            diesel::delete(its_alone).execute(connection)?;
            // The deliveries of events that others wait for go with it, by the schema.
            diesel::delete(&row).execute(connection)?;
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
        self.write(move |connection| {
            let Some(row) = by_id(connection, project, endpoint)? else { return Ok(false) };
            change(connection, row, |endpoint| endpoint.replace_secret(secret))?;
            Ok(true)
        })
        .await
    }

    async fn enable_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let Some(row) = by_id(connection, project, endpoint)? else { return Ok(false) };
            change(connection, row, Endpoint::enable)?;
            Ok(true)
        })
        .await
    }

    async fn disabled_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError> {
        self.read(move |connection| {
            let rows = webhook_endpoints::table
                .filter(webhook_endpoints::disabled_at.is_not_null())
                .order((webhook_endpoints::disabled_at, webhook_endpoints::id))
                .limit(i64::from(limit))
                .select(EndpointRow::as_select())
                .load(connection)?;
            Ok(rows.into_iter().map(Endpoint::try_from).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn record(&self, event: Event) -> Result<(), StoreError> {
        self.write(move |connection| Ok(record(connection, &event)?)).await
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        room: Room,
    ) -> Result<Vec<Dispatch>, StoreError> {
        self.write(move |connection| {
            let waiting: Vec<WaitingRow> = diesel::sql_query(WAITING)
                .bind::<BigInt, _>(now.timestamp_millis())
                .load(connection)?;
            let waiting = waiting.into_iter().map(WaitingEndpoint::try_from);
            let mut claimed = Vec::new();
            for (endpoint, places) in room.share(waiting.collect::<Result<_, _>>()?) {
                claim(connection, endpoint, places, now, lease, &mut claimed)?;
            }
            claimed.sort_by_key(|(due_at, _)| *due_at);
            Ok(claimed.into_iter().map(|(_, dispatch)| dispatch).collect())
        })
        .await
    }

    async fn delivered(&self, endpoint: EndpointId, event: String) -> Result<(), StoreError> {
        self.write(move |connection| {
            let failing = webhook_endpoints::table
                .find(endpoint.to_string())
                .filter(webhook_endpoints::failures.gt(0))
                .select(EndpointRow::as_select())
                .get_result(connection)
                .optional()?;
            if let Some(row) = failing {
                change(connection, row, Endpoint::after_success)?;
            }
            Ok(strike(connection, endpoint, &event)?)
        })
        .await
    }

    async fn failed(
        &self,
        endpoint: EndpointId,
        event: String,
        call: FailedCall,
    ) -> Result<Option<Endpoint>, StoreError> {
        self.write(move |connection| {
            let row = webhook_endpoints::table
                .find(endpoint.to_string())
                .select(EndpointRow::as_select())
                .get_result(connection)
                .optional()?;
            let Some(row) = row else { return Ok(None) };
            let mut told = None;
            let rule = |known: &mut Endpoint| {
                told = known.after_failure(call.switch_off, call.at);
            };
            let known = change(connection, row, rule)?;
            if let Some(told) = &told {
                record(connection, told)?;
            }
            let off = told.map(|_| known);
            let Some(again) = call.again else {
                strike(connection, endpoint, &event)?;
                return Ok(off);
            };
            diesel::update(event_deliveries::table.find((&event, endpoint.to_string())))
                .set((
                    event_deliveries::failures.eq(event_deliveries::failures + 1),
                    event_deliveries::due_at.eq(again.timestamp_millis()),
                ))
                .execute(connection)?;
            Ok(off)
        })
        .await
    }

    async fn give_up(&self, endpoint: EndpointId, event: String) -> Result<(), StoreError> {
        self.write(move |connection| Ok(strike(connection, endpoint, &event)?)).await
    }

    async fn drop_untold(&self) -> Result<u64, StoreError> {
        self.drain(|connection| {
            let off = webhook_endpoints::table
                .filter(webhook_endpoints::disabled_at.is_not_null())
                .select(webhook_endpoints::id);
            let untold: Vec<(String, String)> = event_deliveries::table
                .filter(event_deliveries::endpoint_id.eq_any(off))
                .limit(SWEEP.into())
                .select((event_deliveries::event_id, event_deliveries::endpoint_id))
                .load(connection)?;
            for (event, endpoint) in &untold {
                let delivery = event_deliveries::table.find((event, endpoint));
                diesel::delete(delivery).execute(connection)?;
            }
            let events = untold.iter().map(|(event, _)| event);
            let waiting = event_deliveries::table.filter(event_deliveries::event_id.eq(events::id));
            let told = events::table.filter(events::id.eq_any(events)).filter(not(exists(waiting)));
            diesel::delete(told).execute(connection)?;
            Ok(untold.len())
        })
        .await
    }
}

/// Gives out what has waited longest for an endpoint, up to its places.
fn claim(
    connection: &mut SqliteConnection,
    endpoint: EndpointId,
    places: u32,
    now: Timestamp,
    lease: Duration,
    claimed: &mut Vec<(i64, Dispatch)>,
) -> Result<(), Failure> {
    let due = event_deliveries::table
        .inner_join(events::table)
        .inner_join(webhook_endpoints::table)
        .filter(event_deliveries::endpoint_id.eq(endpoint.to_string()))
        .filter(event_deliveries::due_at.le(now.timestamp_millis()))
        .order((event_deliveries::due_at, event_deliveries::event_id))
        .limit(i64::from(places))
        .select((
            event_deliveries::due_at,
            event_deliveries::failures,
            EventRow::as_select(),
            EndpointRow::as_select(),
        ))
        .load::<(i64, i32, EventRow, EndpointRow)>(connection)?;
    for (due_at, failures, event, endpoint) in due {
        diesel::update(event_deliveries::table.find((&event.id, &endpoint.id)))
            .set(event_deliveries::due_at.eq((now + lease).timestamp_millis()))
            .execute(connection)?;
        let failures = Row::new("event_deliveries", &event.id).count("failures", failures)?;
        let (endpoint, event) = (endpoint.try_into()?, event.try_into()?);
        claimed.push((due_at, Dispatch { endpoint, event, failures }));
    }
    Ok(())
}

/// Applies a rule to an endpoint and gives it as it is then.
fn change(
    connection: &mut SqliteConnection,
    row: EndpointRow,
    rule: impl FnOnce(&mut Endpoint),
) -> Result<Endpoint, Failure> {
    let mut endpoint = Endpoint::try_from(row)?;
    rule(&mut endpoint);
    let row = EndpointRow::from(endpoint.clone());
    diesel::update(&row).set(&row).execute(connection)?;
    Ok(endpoint)
}

/// Puts an event on record for every endpoint of its project, as part of the write that made it
/// happen; without an endpoint it is one look-up by index, and a second time it changes nothing.
pub(crate) fn record(connection: &mut SqliteConnection, event: &Event) -> QueryResult<()> {
    let endpoints: Vec<String> = webhook_endpoints::table
        .filter(webhook_endpoints::project_id.eq(event.project.to_string()))
        .filter(webhook_endpoints::disabled_at.is_null())
        .select(webhook_endpoints::id)
        .load(connection)?;
    if endpoints.is_empty() {
        return Ok(());
    }
    let row = EventRow::from(event);
    let recorded = diesel::insert_into(events::table)
        .values(&row)
        .on_conflict_do_nothing()
        .execute(connection)?;
    if recorded == 0 {
        return Ok(());
    }
    for endpoint in endpoints {
        let delivery = (
            event_deliveries::event_id.eq(&row.id),
            event_deliveries::endpoint_id.eq(endpoint),
            event_deliveries::failures.eq(0),
            event_deliveries::due_at.eq(event.at.timestamp_millis()),
        );
        diesel::insert_into(event_deliveries::table).values(delivery).execute(connection)?;
    }
    Ok(())
}

/// Takes an endpoint off the list of an event, and the event off the record with the last one.
fn strike(connection: &mut SqliteConnection, endpoint: EndpointId, event: &str) -> QueryResult<()> {
    diesel::delete(event_deliveries::table.find((event, endpoint.to_string())))
        .execute(connection)?;
    let waiting = event_deliveries::table.filter(event_deliveries::event_id.eq(events::id));
    diesel::delete(events::table.find(event).filter(not(exists(waiting)))).execute(connection)?;
    Ok(())
}

fn by_id(
    connection: &mut SqliteConnection,
    project: ProjectId,
    endpoint: EndpointId,
) -> QueryResult<Option<EndpointRow>> {
    webhook_endpoints::table
        .filter(webhook_endpoints::id.eq(endpoint.to_string()))
        .filter(webhook_endpoints::project_id.eq(project.to_string()))
        .select(EndpointRow::as_select())
        .get_result(connection)
        .optional()
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
