pub(crate) mod call;

use crate::connection::error::Failure;
use crate::connection::pool::{SWEEP, SqliteStore};
use crate::connection::remembered::Changes;
use async_trait::async_trait;
use diesel::dsl::{Eq, Filter, IsNull, exists, not};
use diesel::prelude::*;
use dwar_event::{Dispatch, Endpoint, EndpointCall, Event, EventStore, NewSecret, Room, SwitchOff};
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{event_deliveries, events, webhook_calls, webhook_endpoints};
use dwar_sql::{
    At, EndpointRow, EventRow, Id, Row, WaitingRow, legible, read_all, read_each, readable,
};
use std::time::Duration;

/// One look-up by index for each endpoint, however much it waits for.
const WAITING: &str = "SELECT id, failing, due_at FROM ( \
     SELECT e.id, e.failures > 0 AS failing, \
            (SELECT min(d.due_at) FROM event_deliveries d WHERE d.endpoint_id = e.id) AS due_at \
     FROM webhook_endpoints e WHERE e.disabled_at IS NULL \
 ) WHERE due_at <= ?";

#[async_trait]
impl EventStore for SqliteStore {
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<bool, StoreError> {
        self.of(endpoint.project)
            .write_that(Changes::NoLookUp, move |connection| {
                let own = webhook_endpoints::project_id.eq(Id::from(endpoint.project));
                let there: i64 =
                    webhook_endpoints::table.filter(own).count().get_result(connection)?;
                if there >= Endpoint::MOST as i64 {
                    return Ok(false);
                }
                let row = EndpointRow::from(&endpoint);
                diesel::insert_into(webhook_endpoints::table).values(row).execute(connection)?;
                Ok(true)
            })
            .await
    }

    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError> {
        self.of(project)
            .read(move |connection| {
                let query = webhook_endpoints::table
                    .filter(webhook_endpoints::project_id.eq(Id::from(project)))
                    .order((webhook_endpoints::created_at, webhook_endpoints::id));
                Ok(read_all!(EndpointRow of query, connection))
            })
            .await
    }

    async fn remove_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.of(project)
            .write_that(Changes::NoLookUp, move |connection| {
                let Some(row) = by_id(connection, project, endpoint)? else { return Ok(false) };
                let id = Id::from(endpoint);
                let waits: Vec<String> = event_deliveries::table
                    .filter(event_deliveries::endpoint_id.eq(id))
                    .select(event_deliveries::event_id)
                    .load(connection)?;
                let called: Vec<String> = webhook_calls::table
                    .filter(webhook_calls::endpoint_id.eq(id))
                    .select(webhook_calls::event_id)
                    .load(connection)?;
                // Its deliveries and calls go with it, by the schema.
                diesel::delete(&row).execute(connection)?;
                drop_told(connection, waits.iter().chain(&called))?;
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
        self.of(project)
            .write_that(Changes::NoLookUp, move |connection| {
                let Some(row) = by_id(connection, project, endpoint)? else { return Ok(false) };
                change(connection, row, |endpoint| endpoint.secret.replace(secret))?;
                Ok(true)
            })
            .await
    }

    async fn enable_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.of(project)
            .write_that(Changes::NoLookUp, move |connection| {
                let Some(row) = by_id(connection, project, endpoint)? else { return Ok(false) };
                change(connection, row, Endpoint::enable)?;
                Ok(true)
            })
            .await
    }

    async fn disabled_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError> {
        self.read(move |connection| {
            let query = webhook_endpoints::table
                .filter(webhook_endpoints::disabled_at.is_not_null())
                .order((webhook_endpoints::disabled_at, webhook_endpoints::id))
                .limit(i64::from(limit));
            Ok(read_each!(EndpointRow of query, connection))
        })
        .await
    }

    async fn record(&self, event: Event) -> Result<(), StoreError> {
        self.of(event.world.project)
            .write_that(Changes::NoLookUp, move |connection| Ok(record(connection, &event)?))
            .await
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        room: Room,
    ) -> Result<Vec<Dispatch>, StoreError> {
        self.write_that(Changes::NoLookUp, move |connection| {
            let waiting: Vec<WaitingRow> =
                diesel::sql_query(WAITING).bind::<At, _>(At::from(now)).load(connection)?;
            let mut claimed = Vec::new();
            for (endpoint, places) in room.share(readable!(waiting)) {
                claim(connection, endpoint, places, now, lease, &mut claimed)?;
            }
            claimed.sort_by_key(|(due_at, _)| *due_at);
            Ok(claimed.into_iter().map(|(_, dispatch)| dispatch).collect())
        })
        .await
    }

    async fn delivered(&self, call: EndpointCall) -> Result<(), StoreError> {
        self.write_that(Changes::NoLookUp, move |connection| {
            let row = webhook_endpoints::table
                .find(Id::from(call.endpoint))
                .select(EndpointRow::as_select())
                .get_result(connection)
                .optional()?;
            let Some(row) = row else { return Ok(()) };
            if row.failures > 0 {
                change(connection, row, Endpoint::after_success)?;
            }
            Ok(call::over(connection, &call)?)
        })
        .await
    }

    async fn failed(
        &self,
        call: EndpointCall,
        switch_off: Option<SwitchOff>,
    ) -> Result<Option<Endpoint>, StoreError> {
        self.write_that(Changes::NoLookUp, move |connection| {
            let row = webhook_endpoints::table
                .find(Id::from(call.endpoint))
                .select(EndpointRow::as_select())
                .get_result(connection)
                .optional()?;
            let Some(row) = row else { return Ok(None) };
            let mut told = None;
            let rule = |known: &mut Endpoint| {
                told = known.after_failure(&call, switch_off);
            };
            let known = change(connection, row, rule)?;
            if let Some(told) = &told {
                record(connection, told)?;
            }
            match call.again {
                None => call::over(connection, &call)?,
                Some(again) => call::put_off(connection, &call, again)?,
            }
            Ok(told.map(|_| known))
        })
        .await
    }

    async fn give_up(&self, call: EndpointCall) -> Result<(), StoreError> {
        self.write_that(Changes::NoLookUp, move |connection| {
            let known = webhook_endpoints::table.find(Id::from(call.endpoint));
            if !diesel::select(exists(known)).get_result::<bool>(connection)? {
                return Ok(());
            }
            Ok(call::over(connection, &call)?)
        })
        .await
    }

    async fn drop_untold(&self) -> Result<u64, StoreError> {
        self.in_batches(|connection| {
            let off = webhook_endpoints::table
                .filter(webhook_endpoints::disabled_at.is_not_null())
                .select(webhook_endpoints::id);
            let untold: Vec<(String, Id)> = event_deliveries::table
                .filter(event_deliveries::endpoint_id.eq_any(off))
                .limit(SWEEP.into())
                .select((event_deliveries::event_id, event_deliveries::endpoint_id))
                .load(connection)?;
            for (event, endpoint) in &untold {
                let delivery = event_deliveries::table.find((event, endpoint));
                diesel::delete(delivery).execute(connection)?;
            }
            drop_told(connection, untold.iter().map(|(event, _)| event))?;
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

/// Applies a rule to an endpoint and gives it as it is then.
fn change(
    connection: &mut SqliteConnection,
    row: EndpointRow,
    rule: impl FnOnce(&mut Endpoint),
) -> Result<Endpoint, Failure> {
    let mut endpoint = Endpoint::try_from(row)?;
    rule(&mut endpoint);
    let row = EndpointRow::from(&endpoint);
    diesel::update(&row).set(&row).execute(connection)?;
    Ok(endpoint)
}

/// The endpoints that a project's events are told to.
pub(crate) fn listeners(project: ProjectId) -> Listeners {
    webhook_endpoints::table
        .filter(webhook_endpoints::project_id.eq(Id::from(project)))
        .filter(webhook_endpoints::disabled_at.is_null())
}

type Listeners = Filter<
    Filter<webhook_endpoints::table, Eq<webhook_endpoints::project_id, Id>>,
    IsNull<webhook_endpoints::disabled_at>,
>;

/// Puts an event on record for every endpoint of its project, as part of the write that made it
/// happen; without an endpoint it is one look-up by index, and a second time it changes nothing.
pub(crate) fn record(connection: &mut SqliteConnection, event: &Event) -> QueryResult<()> {
    let endpoints: Vec<Id> =
        listeners(event.world.project).select(webhook_endpoints::id).load(connection)?;
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
            event_deliveries::due_at.eq(At::from(event.at)),
        );
        diesel::insert_into(event_deliveries::table).values(delivery).execute(connection)?;
    }
    Ok(())
}

/// Drops those of the events that nobody waits for and of which no call is on record.
pub(crate) fn drop_told<'ids>(
    connection: &mut SqliteConnection,
    candidates: impl IntoIterator<Item = &'ids String>,
) -> QueryResult<()> {
    for event in candidates {
        let waiting = event_deliveries::table.filter(event_deliveries::event_id.eq(events::id));
        let called = webhook_calls::table.filter(webhook_calls::event_id.eq(events::id));
        let told =
            events::table.find(event).filter(not(exists(waiting))).filter(not(exists(called)));
        diesel::delete(told).execute(connection)?;
    }
    Ok(())
}

pub(crate) fn by_id(
    connection: &mut SqliteConnection,
    project: ProjectId,
    endpoint: EndpointId,
) -> QueryResult<Option<EndpointRow>> {
    webhook_endpoints::table
        .filter(webhook_endpoints::id.eq(Id::from(endpoint)))
        .filter(webhook_endpoints::project_id.eq(Id::from(project)))
        .select(EndpointRow::as_select())
        .get_result(connection)
        .optional()
}

#[cfg(test)]
mod tests;
