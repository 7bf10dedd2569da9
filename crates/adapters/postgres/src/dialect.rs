//! The names that the ports shared by both stores (`sql/ports`) call.

pub(crate) use crate::PostgresStore as Store;
pub(crate) use crate::connection::error::Failure;
pub(crate) use crate::connection::lock::{hold_sends, take};
pub(crate) use crate::connection::sweep::SWEEP_BATCH;
pub(crate) use diesel::PgConnection as Conn;
pub(crate) use diesel::pg::Pg as Backend;

use crate::connection::look_up::PRIMARY_ALONE;
use diesel::expression::SqlLiteral;
use diesel::sql_types::Bool;

/// Locks the rows that a query finds, in the order of docs/architecture.md.
macro_rules! for_update {
    ($query:expr) => {
        $query.for_update()
    };
}
macro_rules! for_no_key_update {
    ($query:expr) => {
        $query.for_no_key_update()
    };
}
macro_rules! for_key_share {
    ($query:expr) => {
        $query.for_key_share()
    };
}

/// Filter for queries that identify a caller or session; see [`PRIMARY_ALONE`].
pub(crate) fn primary_alone() -> SqlLiteral<Bool> {
    diesel::dsl::sql(PRIMARY_ALONE)
}

/// Runs several queries. Each sees the state at its own time.
pub(crate) fn snapshot<T>(
    conn: &mut Conn,
    read: impl FnOnce(&mut Conn) -> Result<T, Failure>,
) -> Result<T, Failure> {
    read(conn)
}
