use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Text};
use dwar_kernel::{StoreError, Timestamp};
use dwar_otp::{TestQuota, TestQuotaStore, TestRecord};
use dwar_sql::{At, Id, counted_as_test, kept_in};

/// Number of records that one statement deletes. It occupies the writer for about ten milliseconds if the
/// file is much larger than its cache.
const BATCH: u16 = 50;

#[derive(Clone, Copy)]
struct RecordKind {
    table: &'static str,
    at: &'static str,
    /// The column that orders records of the same time: `rowid`, or the primary key of a table without
    /// rowid. SQLite adds this column to the end of each index.
    key: &'static str,
    /// Condition of the rows that count.
    counted: &'static str,
}

/// The newest record that is beyond the quota of its project.
#[derive(Clone, QueryableByName)]
struct QuotaBoundary {
    #[diesel(sql_type = Id)]
    project: Id,
    #[diesel(sql_type = At)]
    at: At,
    /// The key as an SQL literal, because rowids are numbers and ids are bytes.
    #[diesel(sql_type = Text)]
    row: String,
}

fn kind(record: TestRecord) -> RecordKind {
    let (table, at) = kept_in(record);
    let key = match record {
        TestRecord::Place => "send_id",
        TestRecord::Identity => "id",
        _ => "rowid",
    };
    RecordKind { table, at, key, counted: counted_as_test(record) }
}

/// Finds, for each project, the newest record beyond the `kept` newest ones. Reads only index entries until
/// the boundary is known.
fn edges(
    connection: &mut SqliteConnection,
    RecordKind { table, at, key, counted }: RecordKind,
    kept: u32,
) -> QueryResult<Vec<QuotaBoundary>> {
    let query = format!(
        "SELECT edge.project, held.{at} AS at, quote(held.{key}) AS row \
         FROM (SELECT id AS project, \
               (SELECT {key} FROM {table} INDEXED BY {table}_of_tests \
                WHERE project_id = projects.id AND {counted} \
                ORDER BY {at} DESC, {key} DESC LIMIT 1 OFFSET ?) AS row FROM projects) AS edge \
         JOIN {table} AS held ON held.{key} = edge.row"
    );
    diesel::sql_query(query).bind::<BigInt, _>(i64::from(kept)).load(connection)
}

/// Deletes the oldest [`BATCH`] records up to the edge.
fn drop_some(
    connection: &mut SqliteConnection,
    RecordKind { table, at, key, counted }: RecordKind,
    QuotaBoundary { project, at: edge, row }: &QuotaBoundary,
    until: Timestamp,
) -> QueryResult<usize> {
    let query = format!(
        "DELETE FROM {table} WHERE {key} IN (\
           SELECT {key} FROM {table} INDEXED BY {table}_of_tests \
           WHERE project_id = ? AND {counted} AND ({at}, {key}) <= (?, {row}) AND {at} <= ? \
           ORDER BY {at}, {key} LIMIT ?)"
    );
    diesel::sql_query(query)
        .bind::<Id, _>(project)
        .bind::<At, _>(edge)
        .bind::<At, _>(At::from(until))
        .bind::<Integer, _>(i32::from(BATCH))
        .execute(connection)
}

#[async_trait]
impl TestQuotaStore for SqliteStore {
    async fn trim(&self, quota: TestQuota, now: Timestamp) -> Result<u64, StoreError> {
        let mut dropped = 0;
        for record in TestRecord::ALL {
            let (kind, until) = (kind(record), quota.goes_until(record, now));
            let until = until.unwrap_or(Timestamp::MAX_UTC);
            let edges = self
                .scan("otp.trim", move |connection| Ok(edges(connection, kind, quota.kept)?))
                .await?;
            for edge in edges {
                let some = move |connection: &mut _| drop_some(connection, kind, &edge, until);
                dropped += self.drain_by(BATCH, some).await?;
            }
        }
        self.drain_by(BATCH, |connection| {
            let counts = "DELETE FROM guess_budgets WHERE (project_id, mode, phone_index) IN (\
                            SELECT project_id, mode, phone_index \
                            FROM guess_budgets INDEXED BY guess_budgets_of_tests \
                            WHERE mode = 'test' LIMIT ?)";
            diesel::sql_query(counts).bind::<Integer, _>(i32::from(BATCH)).execute(connection)
        })
        .await?;
        Ok(dropped)
    }
}
