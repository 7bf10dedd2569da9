//! The event feed. Transactions commit in another order than they begin. So the feed returns an
//! event only when every transaction that is not newer than the event's own is over: no event can
//! appear before it afterwards.

use crate::connection::error::Failure;
use crate::connection::look_up::PRIMARY_ALONE;
use crate::connection::statement::Statement;
use crate::event::told::untold;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use dwar_event::{Event, FeedLimit, FeedPosition, FeedSlice};
use dwar_kernel::ProjectMode;
use dwar_sql::{At, FeedRow, Id, OldestRow, feed_slice, legible, stored_place};

/// One statement, so that all of it comes from one snapshot.
const SLICE: &str = "\
, life AS MATERIALIZED ( \
    SELECT name || '/' || feed_place() AS life FROM feed_life \
) SELECT l.life, coalesce(f.dropped_transaction, 0) AS dropped_transaction, \
    coalesce(f.dropped_number, 0) AS dropped_number, \
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS end_transaction, \
    0::bigint AS end_number, \
    e.transaction::text::bigint AS at_transaction, e.number AS at_number, e.* \
FROM given g CROSS JOIN life l \
LEFT JOIN event_feeds f ON f.project_id = g.project AND f.mode = g.mode \
LEFT JOIN LATERAL ( \
    SELECT * FROM events e WHERE e.project_id = g.project AND e.mode = g.mode AND e.in_feed \
        AND (e.transaction, e.number) > (g.after_transaction::text::xid8, g.after_number) \
        AND e.transaction < pg_snapshot_xmin(pg_current_snapshot()) \
    ORDER BY e.transaction, e.number LIMIT g.most \
) e ON true WHERE ";

const ORDER: &str = " ORDER BY e.transaction, e.number";

/// As [`SLICE`], without the events that running transactions may still precede.
const NEWER: &str = "SELECT transaction::text::bigint AS at_transaction, number AS at_number, id, \
        happened_at FROM events \
    WHERE project_id = $1 AND mode = $2 AND in_feed \
        AND (transaction, number) > ($3::text::xid8, $4) \
        AND transaction < pg_snapshot_xmin(pg_current_snapshot()) \
    ORDER BY transaction, number LIMIT $5";

const OLDEST: &str = "SELECT transaction::text::bigint AS at_transaction, number AS at_number, id, \
        happened_at FROM events \
    WHERE project_id = $1 AND mode = $2 AND in_feed \
        AND (transaction, number) <= ($3::text::xid8, $4) \
    ORDER BY transaction, number LIMIT $5";

/// One index look-up per feed.
const HELD_BACK: &str = "SELECT e.happened_at FROM projects p \
    CROSS JOIN (VALUES ('live'), ('test')) AS m (mode) CROSS JOIN LATERAL ( \
        SELECT happened_at FROM events WHERE project_id = p.id AND mode = m.mode AND in_feed \
            AND transaction >= pg_snapshot_xmin(pg_current_snapshot()) \
        ORDER BY transaction, number LIMIT $1 \
    ) e WHERE p.events_feed ORDER BY e.happened_at LIMIT $1";

#[derive(QueryableByName)]
struct HeldBackRow {
    #[diesel(sql_type = At)]
    happened_at: At,
}

/// Reads the events after a position in a feed.
pub(crate) fn slice(
    conn: &mut PgConnection,
    project_mode: ProjectMode,
    after: FeedPosition,
    limit: FeedLimit,
) -> Result<FeedSlice, Failure> {
    let rows: Vec<FeedRow> = Statement::new(SLICE)
        .then([PRIMARY_ALONE, ORDER])
        .given::<Id, _>("project", Id::from(project_mode.project))
        .given::<Text, _>("mode", project_mode.mode.as_str())
        .given::<BigInt, _>("after_transaction", stored_place(after.transaction))
        .given::<BigInt, _>("after_number", stored_place(after.number))
        .given::<BigInt, _>("most", i64::from(limit.get()) + 1)
        .load(conn)?;
    Ok(feed_slice(rows, limit, |row| legible!(Event::try_from(row)))?)
}

/// Reads the events after this one, oldest first, up to the first that a running transaction may
/// still precede.
pub(crate) fn newer(
    conn: &mut PgConnection,
    project_mode: ProjectMode,
    after: FeedPosition,
    limit: i64,
) -> QueryResult<Vec<OldestRow>> {
    found(conn, NEWER, project_mode, after, limit)
}

pub(crate) fn oldest(
    conn: &mut PgConnection,
    project_mode: ProjectMode,
    until: FeedPosition,
    limit: i64,
) -> QueryResult<Vec<OldestRow>> {
    found(conn, OLDEST, project_mode, until, limit)
}

fn found(
    conn: &mut PgConnection,
    sql: &str,
    project_mode: ProjectMode,
    at: FeedPosition,
    limit: i64,
) -> QueryResult<Vec<OldestRow>> {
    diesel::sql_query(sql)
        .bind::<Id, _>(Id::from(project_mode.project))
        .bind::<Text, _>(project_mode.mode.as_str())
        .bind::<Text, _>(at.transaction.to_string())
        .bind::<BigInt, _>(stored_place(at.number))
        .bind::<BigInt, _>(limit)
        .load(conn)
}

/// The times since when events are held back, oldest first.
pub(crate) fn held_back(conn: &mut PgConnection, limit: i64) -> QueryResult<Vec<Option<At>>> {
    let rows: Vec<HeldBackRow> =
        diesel::sql_query(HELD_BACK).bind::<BigInt, _>(limit).load(conn)?;
    Ok(rows.into_iter().map(|row| Some(row.happened_at)).collect())
}

/// Deletes the events that leave the feed and that nothing else needs. The caller has locked them.
pub(crate) fn drop_fed(conn: &mut PgConnection, ids: &[String]) -> QueryResult<usize> {
    diesel::delete(untold!(ids)).execute(conn)
}
