use crate::convert::Row;
use crate::event_row::{EndpointRow, EventRow};
use crate::pool::SqliteStore;
use crate::schema::{event_deliveries, events, webhook_endpoints};
use async_trait::async_trait;
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use dwar_event::{Dispatch, Endpoint, Event, EventStore, NewSecret};
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use std::time::Duration;

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
            let mut endpoint = Endpoint::try_from(row)?;
            endpoint.replace_secret(secret);
            let row = EndpointRow::from(endpoint);
            diesel::update(&row).set(&row).execute(connection)?;
            Ok(true)
        })
        .await
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        limit: u32,
    ) -> Result<Vec<Dispatch>, StoreError> {
        self.write(move |connection| {
            let due = event_deliveries::table
                .inner_join(events::table)
                .inner_join(webhook_endpoints::table)
                .filter(event_deliveries::due_at.le(now.timestamp_millis()))
                .order((event_deliveries::due_at, event_deliveries::event_id))
                .limit(i64::from(limit))
                .select((
                    event_deliveries::failures,
                    EventRow::as_select(),
                    EndpointRow::as_select(),
                ))
                .load::<(i32, EventRow, EndpointRow)>(connection)?;
            let again = (now + lease).timestamp_millis();
            let mut claimed = Vec::with_capacity(due.len());
            for (failures, event, endpoint) in due {
                let delivery = (&event.id, &endpoint.id);
                diesel::update(event_deliveries::table.find(delivery))
                    .set(event_deliveries::due_at.eq(again))
                    .execute(connection)?;
                let failures = Row::new("event_deliveries", &event.id).count("failures", failures);
                let dispatch = Dispatch {
                    endpoint: endpoint.try_into()?,
                    event: event.try_into()?,
                    failures: failures?,
                };
                claimed.push(dispatch);
            }
            Ok(claimed)
        })
        .await
    }

    async fn delivered(&self, endpoint: EndpointId, event: String) -> Result<(), StoreError> {
        self.write(move |connection| Ok(strike(connection, endpoint, &event)?)).await
    }

    async fn failed(
        &self,
        endpoint: EndpointId,
        event: String,
        again: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        self.write(move |connection| {
            let Some(again) = again else { return Ok(strike(connection, endpoint, &event)?) };
            diesel::update(event_deliveries::table.find((&event, endpoint.to_string())))
                .set((
                    event_deliveries::failures.eq(event_deliveries::failures + 1),
                    event_deliveries::due_at.eq(again.timestamp_millis()),
                ))
                .execute(connection)?;
            Ok(())
        })
        .await
    }
}

/// Puts an event on record for every endpoint of its project, as part of the write that made it
/// happen; without an endpoint it is one look-up by index, and a second time it changes nothing.
pub(crate) fn record(connection: &mut SqliteConnection, event: &Event) -> QueryResult<()> {
    let endpoints: Vec<String> = webhook_endpoints::table
        .filter(webhook_endpoints::project_id.eq(event.project.to_string()))
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
        .first(connection)
        .optional()
}

#[cfg(test)]
#[path = "event_tests.rs"]
mod tests;
