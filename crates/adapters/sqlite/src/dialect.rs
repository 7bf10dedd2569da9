//! What the ports that both stores share (`sql/ports`) call by one name.

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

/// How many rows a turn of a sweep drops at most.
pub(crate) const SWEEP_BATCH: i64 = SWEEP as i64;

/// How a query locks the rows it finds: not at all, since one thread writes.
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

/// What is locked where there is no row yet: nothing, as above.
pub(crate) const fn take(_conn: &mut Conn, _lock: Lock) -> QueryResult<()> {
    Ok(())
}

/// What keeps others from beginning a send to a phone: nothing, as above.
pub(crate) const fn hold_sends(_conn: &mut Conn, _phone: &[u8]) -> QueryResult<()> {
    Ok(())
}

/// What a query is filtered by that says who somebody is: here there is nobody else who might know better.
pub(crate) fn primary_alone() -> AsExprOf<bool, Bool> {
    true.into_sql::<Bool>()
}
