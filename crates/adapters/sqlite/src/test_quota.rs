use crate::convert::Row;
use crate::error::Failure;
use crate::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Text};
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use dwar_otp::{TestQuota, TestQuotaStore, TestRecord};

/// How many records one turn drops: some ten milliseconds of the writer's time in a file that is
/// much larger than its cache.
const BATCH: u16 = 50;

/// Where one kind of record is kept.
#[derive(Clone, Copy)]
struct Kind {
    table: &'static str,
    /// Its age, by which `TABLE_of_tests` is ordered within a project; then by row.
    at: &'static str,
}

const fn kind(record: TestRecord) -> Kind {
    match record {
        TestRecord::Request => Kind { table: "otps", at: "expires_at" },
        TestRecord::FirstAnswer => Kind { table: "idempotency_records", at: "began_at" },
        TestRecord::Place => Kind { table: "send_slots", at: "taken_at" },
        TestRecord::Session => Kind { table: "sessions", at: "created_at" },
        TestRecord::Identity => Kind { table: "identities", at: "last_verified_at" },
        TestRecord::Event => Kind { table: "events", at: "happened_at" },
    }
}

/// The newest record that is beyond the quota of its project.
#[derive(QueryableByName)]
struct EdgeRow {
    #[diesel(sql_type = Text)]
    project: String,
    #[diesel(sql_type = BigInt)]
    at: i64,
    #[diesel(sql_type = BigInt)]
    row: i64,
}

#[derive(Clone, Copy)]
struct Edge {
    project: ProjectId,
    at: i64,
    row: i64,
}

impl TryFrom<EdgeRow> for Edge {
    type Error = StoreError;

    fn try_from(EdgeRow { project, at, row }: EdgeRow) -> Result<Self, StoreError> {
        Ok(Self { project: Row::new("projects", &project).parse("id", &project)?, at, row })
    }
}

impl Kind {
    /// Walks as many index entries of a project as the quota keeps, and no rows.
    fn edges(self, connection: &mut SqliteConnection, kept: u32) -> Result<Vec<Edge>, Failure> {
        let Self { table, at, .. } = self;
        let query = format!(
            "SELECT edge.project, held.{at} AS at, held.rowid AS row \
             FROM (SELECT id AS project, \
                   (SELECT rowid FROM {table} INDEXED BY {table}_of_tests \
                    WHERE project_id = projects.id AND mode = 'test' \
                    ORDER BY {at} DESC, rowid DESC LIMIT 1 OFFSET ?) AS row FROM projects) AS edge \
             JOIN {table} AS held ON held.rowid = edge.row"
        );
        let query = diesel::sql_query(query).bind::<BigInt, _>(i64::from(kept));
        let rows: Vec<EdgeRow> = query.load(connection)?;
        Ok(rows.into_iter().map(Edge::try_from).collect::<Result<_, _>>()?)
    }

    /// Drops the oldest [`BATCH`] records up to the edge.
    fn drop_some(
        self,
        connection: &mut SqliteConnection,
        edge: Edge,
        until: i64,
    ) -> QueryResult<usize> {
        let Self { table, at, .. } = self;
        let query = format!(
            "DELETE FROM {table} WHERE rowid IN (\
               SELECT rowid FROM {table} INDEXED BY {table}_of_tests \
               WHERE project_id = ? AND mode = 'test' AND ({at}, rowid) <= (?, ?) AND {at} <= ? \
               ORDER BY {at}, rowid LIMIT ?)"
        );
        diesel::sql_query(query)
            .bind::<Text, _>(edge.project.to_string())
            .bind::<BigInt, _>(edge.at)
            .bind::<BigInt, _>(edge.row)
            .bind::<BigInt, _>(until)
            .bind::<Integer, _>(i32::from(BATCH))
            .execute(connection)
    }
}

#[async_trait]
impl TestQuotaStore for SqliteStore {
    async fn trim(&self, quota: TestQuota, now: Timestamp) -> Result<u64, StoreError> {
        let mut dropped = 0;
        for record in TestRecord::ALL {
            let until = quota.goes_until(record, now);
            let until = until.map_or(i64::MAX, |until| until.timestamp_millis());
            let kind = kind(record);
            let edges = self.scan(move |connection| kind.edges(connection, quota.kept)).await?;
            for edge in edges {
                let some = move |connection: &mut _| kind.drop_some(connection, edge, until);
                dropped += self.drain_by(BATCH, some).await?;
            }
        }
        self.drain_by(BATCH, |connection| {
            let counts = "DELETE FROM guess_budgets WHERE rowid IN (\
                            SELECT rowid FROM guess_budgets INDEXED BY guess_budgets_of_tests \
                            WHERE mode = 'test' LIMIT ?)";
            diesel::sql_query(counts).bind::<Integer, _>(i32::from(BATCH)).execute(connection)
        })
        .await?;
        Ok(dropped)
    }
}
