//! Statements without parameters, prepared once per connection.

use crate::connection::error::Failure;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::Integer;
use diesel::sqlite::Sqlite;

/// A command such as `BEGIN`. `batch_execute` would parse it each time, which takes much of a write
/// of three statements.
pub(crate) struct Command(&'static str);

pub(crate) const BEGIN: Command = Command("BEGIN IMMEDIATE");
const BEGIN_READING: Command = Command("BEGIN");
pub(crate) const COMMIT: Command = Command("COMMIT");
pub(crate) const ROLLBACK: Command = Command("ROLLBACK");
pub(crate) const SAVEPOINT: Command = Command("SAVEPOINT work");
pub(crate) const RELEASE: Command = Command("RELEASE work");
pub(crate) const ROLLBACK_TO: Command = Command("ROLLBACK TO work");

impl Command {
    pub(crate) fn run(&self, connection: &mut SqliteConnection) -> QueryResult<()> {
        self.execute(connection).map(drop)
    }
}

/// A number that changes with each commit of any other connection, but not with commits of this one
/// (sqlite.org/pragma.html#pragma_data_version).
pub(crate) fn data_version(connection: &mut SqliteConnection) -> QueryResult<i32> {
    Command("PRAGMA data_version").get_result(connection)
}

pub(crate) fn snapshot<T>(
    connection: &mut SqliteConnection,
    read: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure>,
) -> Result<T, Failure> {
    BEGIN_READING.run(connection)?;
    let found = read(connection);
    COMMIT.run(connection)?;
    found
}

impl QueryFragment<Sqlite> for Command {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql(self.0);
        Ok(())
    }
}

impl QueryId for Command {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for Command {
    type SqlType = Integer;
}

impl RunQueryDsl<SqliteConnection> for Command {}
impl RunQueryDsl<SqliteConnection> for &Command {}
