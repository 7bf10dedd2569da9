//! What carries statements to SQLite: the one writer and those who wait for it, the readers, and what
//! they remember.

pub(crate) mod cautions;
pub(crate) mod command;
pub(crate) mod error;
pub(crate) mod file;
pub(crate) mod lock;
pub(crate) mod migrations;
pub(crate) mod pace;
pub(crate) mod place;
pub(crate) mod pool;
pub(crate) mod read_only;
pub(crate) mod remembered;
pub(crate) mod room;
pub(crate) mod statement;
pub(crate) mod writer;
pub(crate) mod writes;

pub(crate) use diesel::SqliteConnection as Conn;
pub(crate) use diesel::sqlite::Sqlite as Backend;

use diesel::dsl::AsExprOf;
use diesel::prelude::*;
use diesel::sql_types::Bool;

/// How many rows a turn of a sweep drops at most.
pub(crate) const SWEEP_BATCH: i64 = pool::SWEEP as i64;

/// One thread writes, so a query of a port that is said once takes no locks here.
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

/// What a query is filtered by that says who somebody is: here there is nobody else who might know better.
pub(crate) fn primary_alone() -> AsExprOf<bool, Bool> {
    true.into_sql::<Bool>()
}
