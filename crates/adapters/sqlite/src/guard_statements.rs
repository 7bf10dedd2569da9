//! Writes of the levels of the guard that are specific to SQLite.

use crate::dialect::Conn;
use diesel::prelude::*;
use dwar_sql::schema::guard_levels;
use dwar_sql::{GuardLevelRow, statement};

/// Deletes levels that have not changed since an instant and were full then. The last factor makes the products
/// real numbers, which do not overflow.
pub(crate) const SWEEP: &str = "DELETE FROM guard_levels WHERE (project_id, kind, digest) IN ( \
     SELECT project_id, kind, digest FROM guard_levels WHERE changed_at <= $1 \
     AND ($1 - changed_at) * 1.0 * capacity >= (capacity - level) * 86400000.0 LIMIT $2)";

pub(crate) fn save(conn: &mut Conn, rows: Vec<GuardLevelRow>) -> QueryResult<()> {
    for row in &rows {
        let insert = diesel::insert_into(guard_levels::table).values(row);
        statement::upsert(insert, "project_id, kind, digest", row).execute(conn)?;
    }
    Ok(())
}
