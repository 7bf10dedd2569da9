//! The event feed. Only one thread writes, so events are numbered in the order in which they become
//! visible.

use crate::connection::error::Failure;
use crate::event::told::untold;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use dwar_event::{Event, FeedLimit, FeedPosition, FeedSlice};
use dwar_kernel::ProjectMode;
use dwar_sql::{At, FeedRow, Id, OldestRow, feed_slice, legible, stored_place};

/// One statement, so that all of it comes from one instant. SQLite itself keeps the last number
/// that was assigned.
const SLICE: &str = "SELECT l.name AS life, \
         0 AS dropped_transaction, coalesce(f.dropped_number, 0) AS dropped_number, \
         0 AS end_transaction, \
         coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) AS end_number, \
         0 AS at_transaction, e.number AS at_number, e.* \
     FROM feed_life l \
     LEFT JOIN event_feeds f ON f.project_id = ?1 AND f.mode = ?2 \
     LEFT JOIN ( \
         SELECT * FROM events WHERE project_id = ?1 AND mode = ?2 AND in_feed AND number > ?3 \
         ORDER BY number LIMIT ?4 \
     ) e ON true ORDER BY e.number";

const OLDEST: &str = "SELECT 0 AS at_transaction, number AS at_number, id, happened_at FROM events \
     WHERE project_id = ? AND mode = ? AND in_feed AND number > ? AND number <= ? \
     ORDER BY number LIMIT ?";

/// Reads the events after a position in a feed.
pub(crate) fn slice(
    connection: &mut SqliteConnection,
    project_mode: ProjectMode,
    after: FeedPosition,
    limit: FeedLimit,
) -> Result<FeedSlice, Failure> {
    let rows: Vec<FeedRow> = diesel::sql_query(SLICE)
        .bind::<Id, _>(Id::from(project_mode.project))
        .bind::<Text, _>(project_mode.mode.as_str())
        .bind::<BigInt, _>(stored_place(after.number))
        .bind::<BigInt, _>(i64::from(limit.get()) + 1)
        .load(connection)?;
    Ok(feed_slice(rows, limit, |row| legible!(Event::try_from(row)))?)
}

/// Reads the events after this one, oldest first.
pub(crate) fn newer(
    connection: &mut SqliteConnection,
    project_mode: ProjectMode,
    after: FeedPosition,
    limit: i64,
) -> QueryResult<Vec<OldestRow>> {
    between(connection, project_mode, (stored_place(after.number), i64::MAX), limit)
}

pub(crate) fn oldest(
    connection: &mut SqliteConnection,
    project_mode: ProjectMode,
    until: FeedPosition,
    limit: i64,
) -> QueryResult<Vec<OldestRow>> {
    between(connection, project_mode, (0, stored_place(until.number)), limit)
}

fn between(
    connection: &mut SqliteConnection,
    project_mode: ProjectMode,
    (after, until): (i64, i64),
    limit: i64,
) -> QueryResult<Vec<OldestRow>> {
    diesel::sql_query(OLDEST)
        .bind::<Id, _>(Id::from(project_mode.project))
        .bind::<Text, _>(project_mode.mode.as_str())
        .bind::<BigInt, _>(after)
        .bind::<BigInt, _>(until)
        .bind::<BigInt, _>(limit)
        .load(connection)
}

/// The times since when events are held back: always empty here.
pub(crate) const fn held_back(
    _connection: &mut SqliteConnection,
    _limit: i64,
) -> QueryResult<Vec<Option<At>>> {
    Ok(Vec::new())
}

/// Deletes the events that leave the feed and that nothing else needs.
pub(crate) fn drop_fed(connection: &mut SqliteConnection, ids: &[String]) -> QueryResult<usize> {
    let mut gone = 0;
    for event in ids {
        gone += diesel::delete(untold!(event)).execute(connection)?;
    }
    Ok(gone)
}
