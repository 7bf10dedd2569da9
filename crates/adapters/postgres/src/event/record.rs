//! Records events.

use crate::connection::error::Failure;
use crate::connection::statement::Statement;
use diesel::prelude::*;
use dwar_kernel::{Event, ProjectMode};
use dwar_sql::schema::events;
use dwar_sql::{EventRow, of_phone};

/// The schema's function `record_event` decides where an event goes; its parameters have names of
/// their own.
const RECORD: &str = "\
 SELECT record_event(event => g.id, project => g.project_id, event_mode => g.mode, event_kind => g.kind, \
     moment => g.happened_at, subject => g.subject_id, related => g.related_id, via => g.channel, \
     phone => g.phone_index, sealed => g.phone_sealed, paise => g.amount, below => g.threshold, \
     reporter => g.provider) \
 FROM given g";

/// Records an event for every endpoint of its project, in one statement.
pub(crate) fn record(conn: &mut PgConnection, event: &Event) -> Result<(), Failure> {
    given!(
        Statement::new(RECORD), events of EventRow::from(event),
        id project_id mode kind happened_at subject_id related_id channel phone_index phone_sealed
        amount threshold provider
    )
    .execute(conn)?;
    Ok(())
}

/// Removes a phone's number from events that are still to be delivered.
pub(crate) fn forget_phone(
    conn: &mut PgConnection,
    project_mode: ProjectMode,
    phone: &[u8],
) -> QueryResult<usize> {
    // The same lock order as the removal of an endpoint.
    let of_phone: Vec<String> = of_phone!(events of project_mode, phone)
        .order(events::id)
        .select(events::id)
        .for_update()
        .load(conn)?;
    let nothing = None::<Vec<u8>>;
    diesel::update(events::table.filter(events::id.eq_any(of_phone)))
        .set((events::phone_index.eq(&nothing), events::phone_sealed.eq(&nothing)))
        .execute(conn)
}
