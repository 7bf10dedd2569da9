//! The columns of ids, and how a database file stores them.

use diesel::SqliteConnection;
use diesel::connection::{Connection, SimpleConnection};
use diesel::dsl::sql;
use diesel::query_dsl::RunQueryDsl;
use diesel::sql_types::BigInt;
use std::path::Path;

const SCHEMA: &str = include_str!("../../../../sql/src/schema.rs");

/// Table and column of each id that is in diesel's schema and in the database.
pub fn columns_of_ids(connection: &mut SqliteConnection) -> Vec<(&'static str, &'static str)> {
    let mut table = "";
    let mut found = Vec::new();
    for line in SCHEMA.lines().map(str::trim) {
        if let Some((name, _)) = line.split_once(" (") {
            table = name;
        }
        if let Some((column, "Id," | "Nullable<Id>,")) = line.split_once(" -> ") {
            found.push((table, column));
        }
    }
    found.retain(|(table, id)| {
        count(connection, &format!("pragma_table_info('{table}') WHERE name = '{id}'")) == 1
    });
    found
}

pub fn connect(database: &Path) -> SqliteConnection {
    let mut connection = SqliteConnection::establish(database.to_str().unwrap()).unwrap();
    connection.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON").unwrap();
    connection
}

pub fn count(connection: &mut SqliteConnection, rows: &str) -> i64 {
    sql::<BigInt>(&format!("SELECT count(*) FROM {rows}")).get_result(connection).unwrap()
}

/// Columns of ids with a value that is not 16 bytes.
pub fn ids_otherwise_stored(connection: &mut SqliteConnection) -> Vec<String> {
    let mut found = Vec::new();
    for (table, id) in columns_of_ids(connection) {
        let is_other = format!("{id} IS NOT NULL AND (typeof({id}), length({id})) <> ('blob', 16)");
        if count(connection, &format!("{table} WHERE {is_other}")) > 0 {
            found.push(format!("{table}.{id}"));
        }
    }
    found
}
