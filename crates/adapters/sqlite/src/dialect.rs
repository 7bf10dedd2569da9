//! The names that the ports shared by both stores (`sql/ports`) call.

pub(crate) use crate::connection::command::snapshot;
pub(crate) use crate::connection::error::Failure;
pub(crate) use crate::connection::pool::SqliteStore as Store;
pub(crate) use diesel::SqliteConnection as Conn;
pub(crate) use diesel::sqlite::Sqlite as Backend;

use crate::connection::pool::SWEEP;
use diesel::dsl::AsExprOf;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use dwar_sql::Lock;

/// Most rows that one turn of a sweep deletes.
pub(crate) const SWEEP_BATCH: i64 = SWEEP as i64;

/// Locks the rows that a query finds. Does nothing here, because only one thread writes.
macro_rules! for_update {
    ($query:expr) => {
        $query
    };
}
macro_rules! for_no_key_update {
    ($query:expr) => {
        $query
    };
}
macro_rules! for_key_share {
    ($query:expr) => {
        $query
    };
}

/// Locks a record that has no row yet. Does nothing here.
pub(crate) const fn take(_conn: &mut Conn, _lock: Lock) -> QueryResult<()> {
    Ok(())
}

/// Locks sends to a phone. Does nothing here.
pub(crate) const fn hold_sends(_conn: &mut Conn, _phone: &[u8]) -> QueryResult<()> {
    Ok(())
}

/// Filter for queries that identify a caller or session. Always true here, because there is only
/// one server.
pub(crate) fn primary_alone() -> AsExprOf<bool, Bool> {
    true.into_sql::<Bool>()
}
