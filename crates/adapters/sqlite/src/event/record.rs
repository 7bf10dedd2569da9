//! Records events.

use crate::connection::error::Failure;
use diesel::dsl::{Eq, Filter, IsNull};
use diesel::prelude::*;
use dwar_kernel::{Event, ProjectId, ProjectMode};
use dwar_sql::schema::{event_deliveries, events, projects, webhook_endpoints};
use dwar_sql::{At, EventRow, Id, of_phone};

pub(crate) fn listeners(project: ProjectId) -> Listeners {
    webhook_endpoints::table
        .filter(webhook_endpoints::project_id.eq(Id::from(project)))
        .filter(webhook_endpoints::disabled_at.is_null())
}

/// The project, if its feed is switched on.
pub(crate) fn feeding(project: ProjectId) -> FeedColumn {
    projects::table.filter(projects::id.eq(Id::from(project))).filter(projects::events_feed)
}

type FeedColumn = Filter<Filter<projects::table, Eq<projects::id, Id>>, projects::events_feed>;

type Listeners = Filter<
    Filter<webhook_endpoints::table, Eq<webhook_endpoints::project_id, Id>>,
    IsNull<webhook_endpoints::disabled_at>,
>;

/// Records an event for every endpoint of its project and for its feed, as part of the write that
/// caused it. Without any of them this costs one index look-up. A second call changes nothing.
pub(crate) fn record(connection: &mut SqliteConnection, event: &Event) -> Result<(), Failure> {
    let heard = webhook_endpoints::project_id
        .eq(projects::id)
        .and(webhook_endpoints::disabled_at.is_null());
    let found: Vec<(bool, Option<Id>)> = projects::table
        .left_join(webhook_endpoints::table.on(heard))
        .filter(projects::id.eq(Id::from(event.project_mode.project)))
        .select((projects::events_feed, webhook_endpoints::id.nullable()))
        .load(connection)?;
    let feeds = found.iter().any(|(feeds, _)| *feeds);
    let endpoints: Vec<Id> = found.into_iter().filter_map(|(_, endpoint)| endpoint).collect();
    if endpoints.is_empty() && !feeds {
        return Ok(());
    }
    let row = EventRow::from(event);
    let recorded = diesel::insert_into(events::table)
        .values((&row, events::in_feed.eq(feeds)))
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

/// Removes a phone's number from events that are still to be delivered.
pub(crate) fn forget_phone(
    connection: &mut SqliteConnection,
    project_mode: ProjectMode,
    phone: &[u8],
) -> QueryResult<usize> {
    let nothing = None::<Vec<u8>>;
    diesel::update(of_phone!(events of project_mode, phone))
        .set((events::phone_index.eq(&nothing), events::phone_sealed.eq(&nothing)))
        .execute(connection)
}
