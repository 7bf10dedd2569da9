use crate::dialect::{Conn, Failure, Store};
use crate::event::call::{over, put_off};
use crate::event::claim::claim;
use crate::event::record::record;
use crate::event::told::{drop_told, lock_events};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_event::{
    CALL_LEASE, ClaimCapacity, DisablePolicy, Dispatch, Endpoint, EndpointCall, Event, EventStore,
    NewSecret, latest_due,
};
use dwar_kernel::{EndpointId, ProjectId, StoreError, Timestamp};
use dwar_sql::schema::{event_deliveries, projects, webhook_calls, webhook_endpoints};
use dwar_sql::{At, EndpointRow, Id, projects_in_use, read_all, read_each, read_one};
use std::collections::{BTreeSet, HashSet};
use std::time::Duration;

#[async_trait]
impl EventStore for Store {
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<bool, StoreError> {
        self.of(endpoint.project)
            .changing_no_look_up()
            .write("event.add_endpoint", move |conn| {
                // A concurrent insert waits here and then counts this endpoint too.
                let owner = projects::table.find(Id::from(endpoint.project)).select(projects::id);
                let _held: Option<Id> = for_no_key_update!(owner).first(conn).optional()?;
                let own = webhook_endpoints::project_id.eq(Id::from(endpoint.project));
                let there: i64 = webhook_endpoints::table.filter(own).count().get_result(conn)?;
                if there >= Endpoint::MOST as i64 {
                    return Ok(false);
                }
                let row = EndpointRow::from(&endpoint);
                diesel::insert_into(webhook_endpoints::table).values(row).execute(conn)?;
                Ok(true)
            })
            .await
    }

    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError> {
        self.of(project)
            .read("event.endpoints", move |conn| {
                let query = webhook_endpoints::table
                    .filter(webhook_endpoints::project_id.eq(Id::from(project)))
                    .order((webhook_endpoints::created_at, webhook_endpoints::id));
                Ok(read_all!(EndpointRow of query, conn))
            })
            .await
    }

    async fn remove_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.of(project)
            .changing_no_look_up()
            .write("event.remove_endpoint", move |conn| {
                let known = webhook_endpoints::table
                    .find(Id::from(endpoint))
                    .filter(webhook_endpoints::project_id.eq(Id::from(project)))
                    .select(webhook_endpoints::id);
                let found: Option<Id> = for_update!(known).first(conn).optional()?;
                let Some(found) = found else { return Ok(false) };
                let waits: Vec<String> = event_deliveries::table
                    .filter(event_deliveries::endpoint_id.eq(found))
                    .select(event_deliveries::event_id)
                    .load(conn)?;
                let called: Vec<String> = webhook_calls::table
                    .filter(webhook_calls::endpoint_id.eq(found))
                    .select(webhook_calls::event_id)
                    .load(conn)?;
                let told = lock_events(conn, [waits, called].concat())?;
                // The schema deletes its deliveries and calls.
                diesel::delete(webhook_endpoints::table.find(found)).execute(conn)?;
                drop_told(conn, &told)?;
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
            .changing_no_look_up()
            .write("event.replace_secret", move |conn| {
                change(conn, project, endpoint, |known| known.secret.replace(secret.clone()))
            })
            .await
    }

    async fn enable_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.of(project)
            .changing_no_look_up()
            .write("event.enable_endpoint", move |conn| {
                change(conn, project, endpoint, Endpoint::enable)
            })
            .await
    }

    async fn disabled_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError> {
        self.read("event.disabled_endpoints", move |conn| {
            let query = webhook_endpoints::table
                .filter(webhook_endpoints::project_id.eq_any(projects_in_use!()))
                .filter(webhook_endpoints::disabled_at.is_not_null())
                .order((webhook_endpoints::disabled_at, webhook_endpoints::id))
                .limit(i64::from(limit));
            Ok(read_each!(EndpointRow of query, conn))
        })
        .await
    }

    async fn failing_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError> {
        self.read("event.failing_endpoints", move |conn| {
            let query = webhook_endpoints::table
                .filter(webhook_endpoints::project_id.eq_any(projects_in_use!()))
                .filter(webhook_endpoints::failing_since.is_not_null())
                .filter(webhook_endpoints::disabled_at.is_null())
                .order((webhook_endpoints::failing_since, webhook_endpoints::id))
                .limit(i64::from(limit));
            Ok(read_each!(EndpointRow of query, conn))
        })
        .await
    }

    async fn record(&self, event: Event) -> Result<(), StoreError> {
        self.of(event.project_mode.project)
            .changing_no_look_up()
            .write("event.record", move |conn| record(conn, &event))
            .await
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        room: ClaimCapacity,
    ) -> Result<Vec<Dispatch>, StoreError> {
        self.changing_no_look_up()
            .write("event.claim_due", move |conn| claim(conn, now, lease, &room))
            .await
    }

    async fn bring_forward(&self, now: Timestamp) -> Result<u64, StoreError> {
        self.changing_no_look_up()
            .write("event.bring_forward", move |conn| {
                let mut brought = 0;
                for failed in [false, true] {
                    // Uses the index that begins with the endpoint.
                    let endpoints = webhook_endpoints::table.select(webhook_endpoints::id);
                    let late = event_deliveries::table
                        .filter(event_deliveries::endpoint_id.eq_any(endpoints))
                        .filter(event_deliveries::failures.gt(0).eq(failed))
                        .filter(event_deliveries::due_at.gt(At::from(latest_due(failed, now))));
                    brought += diesel::update(late)
                        .set(event_deliveries::due_at.eq(At::from(now + CALL_LEASE)))
                        .execute(conn)?;
                }
                Ok(u64::try_from(brought).unwrap_or(u64::MAX))
            })
            .await
    }

    async fn delivered(&self, calls: Vec<EndpointCall>) -> Result<(), StoreError> {
        self.changing_no_look_up()
            .write("event.delivered", move |conn| {
                let told = lock_told(conn, &calls)?;
                let calls: Vec<&EndpointCall> =
                    calls.iter().filter(|call| told.contains(&Id::from(call.endpoint))).collect();
                over(conn, &calls)
            })
            .await
    }

    async fn failed(
        &self,
        call: EndpointCall,
        disable_policy: Option<DisablePolicy>,
    ) -> Result<Option<Endpoint>, StoreError> {
        self.changing_no_look_up()
            .write("event.failed", move |conn| {
                let Some(mut known) = lock(conn, call.endpoint)? else { return Ok(None) };
                let told = known.after_failure(&call, disable_policy);
                save(conn, &known)?;
                if let Some(told) = &told {
                    record(conn, told)?;
                }
                match call.again {
                    None => over(conn, &[&call])?,
                    Some(_) => put_off(conn, &call)?,
                }
                Ok(told.map(|_| known))
            })
            .await
    }

    async fn give_up(&self, call: EndpointCall) -> Result<(), StoreError> {
        self.changing_no_look_up()
            .write("event.give_up", move |conn| {
                if lock(conn, call.endpoint)?.is_none() {
                    return Ok(());
                }
                over(conn, &[&call])
            })
            .await
    }

    async fn drop_undelivered(&self) -> Result<u64, StoreError> {
        self.drop_untold_events().await
    }
}

/// Locks the endpoints of these calls against removal and resets the failures of those that failed
/// before. Returns the endpoints that exist.
fn lock_told(conn: &mut Conn, calls: &[EndpointCall]) -> Result<HashSet<Id>, Failure> {
    let called: BTreeSet<EndpointId> = calls.iter().map(|call| call.endpoint).collect();
    // Endpoints without failures, nearly all, are only locked against removal and not written.
    let sound = webhook_endpoints::table
        .filter(webhook_endpoints::id.eq_any(called.iter().copied().map(Id::from)))
        .filter(webhook_endpoints::failures.eq(0))
        .order(webhook_endpoints::id)
        .select(webhook_endpoints::id);
    let sound: Vec<Id> = for_key_share!(sound).load(conn)?;
    let mut told: HashSet<Id> = sound.into_iter().collect();
    for endpoint in called {
        if told.contains(&Id::from(endpoint)) {
            continue;
        }
        if let Some(mut known) = lock(conn, endpoint)? {
            known.after_success();
            save(conn, &known)?;
            told.insert(endpoint.into());
        }
    }
    Ok(told)
}

/// Applies a rule to an endpoint; `false` if the project has no such endpoint.
fn change(
    conn: &mut Conn,
    project: ProjectId,
    endpoint: EndpointId,
    rule: impl FnOnce(&mut Endpoint),
) -> Result<bool, Failure> {
    let found = lock(conn, endpoint)?.filter(|found| found.project == project);
    let Some(mut found) = found else { return Ok(false) };
    rule(&mut found);
    save(conn, &found)?;
    Ok(true)
}

/// Locks an endpoint against every other change; events can still be recorded for it.
fn lock(conn: &mut Conn, endpoint: EndpointId) -> Result<Option<Endpoint>, Failure> {
    let query = for_no_key_update!(webhook_endpoints::table.find(Id::from(endpoint)));
    Ok(read_one!(EndpointRow of query, conn))
}

/// Stores an endpoint that the caller has locked.
fn save(conn: &mut Conn, endpoint: &Endpoint) -> QueryResult<()> {
    let row = webhook_endpoints::table.find(Id::from(endpoint.id));
    diesel::update(row).set(EndpointRow::from(endpoint)).execute(conn)?;
    Ok(())
}
