//! Puts events on record.

use crate::connection::error::Failure;
use diesel::dsl::{Eq, Filter, IsNull};
use diesel::prelude::*;
use dwar_kernel::{Event, ProjectId, ProjectMode};
use dwar_sql::schema::{event_deliveries, events, webhook_endpoints};
use dwar_sql::{At, EventRow, Id, of_phone};

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
pub(crate) fn record(connection: &mut SqliteConnection, event: &Event) -> Result<(), Failure> {
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

/// Takes a phone's number out of what is still to be told.
pub(crate) fn forget_phone(
    connection: &mut SqliteConnection,
    world: ProjectMode,
    phone: &[u8],
) -> QueryResult<usize> {
    let nothing = None::<Vec<u8>>;
    diesel::update(of_phone!(events of world, phone))
        .set((events::phone_index.eq(&nothing), events::phone_sealed.eq(&nothing)))
        .execute(connection)
}
