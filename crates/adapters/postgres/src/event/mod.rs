//! What happened, and who still has to be told.
//!
//! Rows are locked in this order: an endpoint, its events, their deliveries, calls. Whoever records holds
//! the project's endpoints, so that none of them goes before the event is on record.

pub(crate) mod call;
mod claim;

use crate::PostgresStore;
use crate::connection::error::Failure;
use crate::connection::statement::Statement;
use crate::connection::sweep::{SWEEP_BATCH, Turn};
use async_trait::async_trait;
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use dwar_event::{Dispatch, Endpoint, EndpointCall, Event, EventStore, NewSecret, Room, SwitchOff};
use dwar_kernel::{EndpointId, ProjectId, ProjectMode, StoreError, Timestamp};
use dwar_sql::schema::{event_deliveries, events, projects, webhook_calls, webhook_endpoints};
use dwar_sql::{EndpointRow, EventRow, Id, of_phone, read_all, read_each, read_one};
use std::time::Duration;

/// `record_event` of the schema says what becomes of an event; its parameters have names of their own.
const RECORD: &str = "\
 SELECT record_event(event => g.id, project => g.project_id, world => g.mode, happening => g.kind, \
     moment => g.happened_at, subject => g.subject_id, related => g.related_id, via => g.channel, \
     phone => g.phone_index, sealed => g.phone_sealed, paise => g.amount, below => g.threshold, \
     reporter => g.provider) \
 FROM given g";

/// Puts an event on record for every endpoint of its project, in one statement.
pub(crate) fn record(conn: &mut PgConnection, event: &Event) -> Result<(), Failure> {
    given!(
        Statement::new(RECORD), events of EventRow::from(event),
        id project_id mode kind happened_at subject_id related_id channel phone_index phone_sealed
        amount threshold provider
    )
    .execute(conn)?;
    Ok(())
}

/// Takes a phone's number out of what is still to be told.
pub(crate) fn forget_phone(
    conn: &mut PgConnection,
    world: ProjectMode,
    phone: &[u8],
) -> QueryResult<usize> {
    // In the order in which whoever removes an endpoint locks them.
    let of_phone: Vec<String> = of_phone!(events of world, phone)
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
    async fn add_endpoint(&self, endpoint: Endpoint) -> Result<bool, StoreError> {
        self.pool
            .of(endpoint.project)
            .transaction(move |conn| {
                // Whoever adds one at the same time waits, and counts this one.
                let _held: Option<Id> = projects::table
                    .find(Id::from(endpoint.project))
                    .select(projects::id)
                    .for_no_key_update()
                    .first(conn)
                    .optional()?;
                let own = webhook_endpoints::project_id.eq(Id::from(endpoint.project));
                let there: i64 = webhook_endpoints::table.filter(own).count().get_result(conn)?;
                if there >= Endpoint::MOST as i64 {
                    return Ok(false);
                }
                diesel::insert_into(webhook_endpoints::table)
                    .values(EndpointRow::from(&endpoint))
                    .execute(conn)?;
                Ok(true)
            })
            .await
    }

    async fn endpoints(&self, project: ProjectId) -> Result<Vec<Endpoint>, StoreError> {
        self.pool
            .of(project)
            .run(move |conn| {
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
        self.pool
            .of(project)
            .transaction(move |conn| {
                let found: Option<Id> = webhook_endpoints::table
                    .find(Id::from(endpoint))
                    .filter(webhook_endpoints::project_id.eq(Id::from(project)))
                    .select(webhook_endpoints::id)
                    .for_update()
                    .first(conn)
                    .optional()?;
                let Some(found) = found else { return Ok(false) };
                let untold: Vec<String> = event_deliveries::table
                    .filter(event_deliveries::endpoint_id.eq(found))
                    .select(event_deliveries::event_id)
                    .load(conn)?;
                let told: Vec<String> = webhook_calls::table
                    .filter(webhook_calls::endpoint_id.eq(found))
                    .select(webhook_calls::event_id)
                    .load(conn)?;
                let untold = lock_events(conn, [untold, told].concat())?;
                // Its deliveries and calls go with it.
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
        self.change(project, endpoint, move |endpoint| endpoint.secret.replace(secret.clone()))
            .await
    }

    async fn enable_endpoint(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
    ) -> Result<bool, StoreError> {
        self.change(project, endpoint, Endpoint::enable).await
    }

    async fn disabled_endpoints(&self, limit: u32) -> Result<Vec<Endpoint>, StoreError> {
        self.pool
            .run(move |conn| {
                let query = webhook_endpoints::table
                    .filter(webhook_endpoints::disabled_at.is_not_null())
                    .order((webhook_endpoints::disabled_at, webhook_endpoints::id))
                    .limit(i64::from(limit));
                Ok(read_each!(EndpointRow of query, conn))
            })
            .await
    }

    async fn record(&self, event: Event) -> Result<(), StoreError> {
        self.pool.of(event.world.project).transaction(move |conn| record(conn, &event)).await
    }

    async fn claim_due(
        &self,
        now: Timestamp,
        lease: Duration,
        room: Room,
    ) -> Result<Vec<Dispatch>, StoreError> {
        self.pool.transaction(move |conn| claim::claim(conn, now, lease, &room)).await
    }

    async fn delivered(&self, call: EndpointCall) -> Result<(), StoreError> {
        self.pool
            .transaction(move |conn| {
                // The one that answers, as nearly all do, is not written, only kept from going.
                let sound: Option<Id> = webhook_endpoints::table
                    .find(Id::from(call.endpoint))
                    .filter(webhook_endpoints::failures.eq(0))
                    .select(webhook_endpoints::id)
                    .for_key_share()
                    .first(conn)
                    .optional()?;
                if sound.is_none() {
                    let Some(mut known) = lock(conn, call.endpoint)? else { return Ok(()) };
                    known.after_success();
                    save(conn, &known)?;
                }
                call::over(conn, &call)
            })
            .await
    }

    async fn failed(
        &self,
        call: EndpointCall,
        switch_off: Option<SwitchOff>,
    ) -> Result<Option<Endpoint>, StoreError> {
        self.pool
            .transaction(move |conn| {
                let Some(mut known) = lock(conn, call.endpoint)? else { return Ok(None) };
                let told = known.after_failure(&call, switch_off);
                save(conn, &known)?;
                if let Some(told) = &told {
                    record(conn, told)?;
                }
                match call.again {
                    None => call::over(conn, &call)?,
                    Some(_) => call::put_off(conn, &call)?,
                }
                Ok(told.map(|_| known))
            })
            .await
    }

    async fn give_up(&self, call: EndpointCall) -> Result<(), StoreError> {
        self.pool
            .transaction(move |conn| {
                if lock(conn, call.endpoint)?.is_none() {
                    return Ok(());
                }
                call::over(conn, &call)
            })
            .await
    }

    async fn drop_untold(&self) -> Result<u64, StoreError> {
        self.in_turns(drop_untold).await
    }
}

impl PostgresStore {
    /// Applies a rule to an endpoint; false if the project has no such one.
    async fn change(
        &self,
        project: ProjectId,
        endpoint: EndpointId,
        rule: impl Fn(&mut Endpoint) + Send + 'static,
    ) -> Result<bool, StoreError> {
        self.pool
            .of(project)
            .transaction(move |conn| {
                let found = lock(conn, endpoint)?.filter(|found| found.project == project);
                let Some(mut found) = found else { return Ok(false) };
                rule(&mut found);
                save(conn, &found)?;
                Ok(true)
            })
            .await
    }
}

/// Locks an endpoint against every other change of it; events are recorded for it meanwhile.
pub(crate) fn lock(
    conn: &mut PgConnection,
    endpoint: EndpointId,
) -> Result<Option<Endpoint>, Failure> {
    let query = webhook_endpoints::table.find(Id::from(endpoint)).for_no_key_update();
    Ok(read_one!(EndpointRow of query, conn))
}

/// Writes down an endpoint that the caller has locked.
fn save(conn: &mut PgConnection, endpoint: &Endpoint) -> QueryResult<()> {
    let row = webhook_endpoints::table.find(Id::from(endpoint.id));
    diesel::update(row).set(EndpointRow::from(endpoint)).execute(conn)?;
    Ok(())
}

/// Locks those of the events that are still on record.
pub(crate) fn lock_events(conn: &mut PgConnection, ids: Vec<String>) -> QueryResult<Vec<String>> {
    let known = events::table.filter(events::id.eq_any(ids)).order(events::id);
    known.select(events::id).for_update().load(conn)
}

/// Drops some of what endpoints that are switched off wait for.
fn drop_untold(conn: &mut PgConnection) -> Result<Turn, Failure> {
    let off = webhook_endpoints::table
        .filter(webhook_endpoints::disabled_at.is_not_null())
        .select(webhook_endpoints::id);
    let off: Vec<Id> = off.load(conn)?;
    if off.is_empty() {
        return Ok(Turn { taken: 0, gone: 0 });
    }
    let untold: Vec<String> = event_deliveries::table
        .filter(event_deliveries::endpoint_id.eq_any(&off))
        .limit(SWEEP_BATCH)
        .select(event_deliveries::event_id)
        .load(conn)?;
    let locked = lock_events(conn, untold)?;
    let gone = event_deliveries::table
        .filter(event_deliveries::event_id.eq_any(&locked))
        .filter(event_deliveries::endpoint_id.eq_any(&off));
    let gone = diesel::delete(gone).execute(conn)?;
    drop_told(conn, &locked)?;
    Ok(Turn { taken: gone, gone })
}

/// Drops those of the events, locked by the caller, that nobody waits for and of which no call is
/// on record.
pub(crate) fn drop_told(conn: &mut PgConnection, candidates: &[String]) -> QueryResult<usize> {
    let waiting = event_deliveries::table.filter(event_deliveries::event_id.eq(events::id));
    let called = webhook_calls::table.filter(webhook_calls::event_id.eq(events::id));
    let told = events::table
        .filter(events::id.eq_any(candidates))
        .filter(not(exists(waiting)))
        .filter(not(exists(called)));
    diesel::delete(told).execute(conn)
}
