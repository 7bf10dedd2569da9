//! Writes of the levels of the guard that are specific to PostgreSQL.

use crate::dialect::Conn;
use diesel::prelude::*;
use diesel::upsert::excluded;
use dwar_sql::GuardLevelRow;
use dwar_sql::schema::guard_levels;

/// Deletes levels that have not changed since an instant and were full then.
pub(crate) const SWEEP: &str = "DELETE FROM guard_levels WHERE (project_id, kind, digest) IN ( \
     SELECT project_id, kind, digest FROM guard_levels WHERE changed_at <= $1 \
     AND extract(epoch FROM $1 - changed_at) * 1000 * capacity \
         >= (capacity - level)::numeric * 86400000 \
     LIMIT $2 FOR UPDATE SKIP LOCKED)";
/// Most levels in one statement. The protocol counts parameters in 16 bits.
const AT_ONCE: usize = 5_000;

pub(crate) fn save(conn: &mut Conn, rows: Vec<GuardLevelRow>) -> QueryResult<()> {
    for rows in rows.chunks(AT_ONCE) {
        diesel::insert_into(guard_levels::table)
            .values(rows)
            .on_conflict((guard_levels::project_id, guard_levels::kind, guard_levels::digest))
            .do_update()
            .set((
                guard_levels::level.eq(excluded(guard_levels::level)),
                guard_levels::changed_at.eq(excluded(guard_levels::changed_at)),
                guard_levels::capacity.eq(excluded(guard_levels::capacity)),
            ))
            .execute(conn)?;
    }
    Ok(())
}
