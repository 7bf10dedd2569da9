use crate::PostgresStore;
use crate::connection::sweep::SWEEP_BATCH;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use dwar_kernel::{StoreError, Timestamp};
use dwar_otp::{TestQuota, TestQuotaStore, TestRecord};
use dwar_sql::{At, Id, counted_as_test, kept_in};

#[derive(Clone, Copy)]
struct RecordKind {
    table: &'static str,
    /// The column of the record's age; `TABLE_of_tests` is ordered by it and then by `key` within a
    /// project.
    at: &'static str,
    key: &'static str,
    key_type: &'static str,
    /// Condition of the rows that count.
    counted: &'static str,
}

const fn kind(record: TestRecord) -> RecordKind {
    let (table, at) = kept_in(record);
    let (key, key_type) = match record {
        TestRecord::Request | TestRecord::Session | TestRecord::Identity => ("id", "uuid"),
        TestRecord::FirstAnswer => ("key_digest", "bytea"),
        TestRecord::Place => ("send_id", "uuid"),
        TestRecord::Event => ("id", "text"),
    };
    RecordKind { table, at, key, key_type, counted: counted_as_test(record) }
}

/// The newest record that is beyond the quota of its project.
#[derive(Clone, QueryableByName)]
struct QuotaBoundary {
    #[diesel(sql_type = Id)]
    project: Id,
    #[diesel(sql_type = At)]
    at: At,
    #[diesel(sql_type = Text)]
    key: String,
}

impl RecordKind {
    /// Walks as many index entries of each project as the quota keeps.
    fn edges(self, conn: &mut PgConnection, kept: u32) -> QueryResult<Vec<QuotaBoundary>> {
        let Self { table, at, key, counted, .. } = self;
        let query = format!(
            "SELECT projects.id AS project, edge.at, edge.key FROM projects CROSS JOIN LATERAL (\
               SELECT {at} AS at, {key}::text AS key FROM {table} \
               WHERE project_id = projects.id AND {counted} \
               ORDER BY {at} DESC, {table}.{key} DESC OFFSET $1 LIMIT 1) AS edge"
        );
        diesel::sql_query(query).bind::<BigInt, _>(i64::from(kept)).load(conn)
    }

    /// Deletes the oldest [`SWEEP_BATCH`] records up to the edge, except locked ones.
    fn drop_some(
        self,
        conn: &mut PgConnection,
        edge: &QuotaBoundary,
        until: Option<Timestamp>,
    ) -> QueryResult<usize> {
        let Self { table, at, key, key_type, counted } = self;
        let query = format!(
            "DELETE FROM {table} WHERE ctid = ANY (ARRAY(\
               SELECT ctid FROM {table} WHERE project_id = $1 AND {counted} \
               AND ({at}, {key}) <= ($2, $3::{key_type}) \
               AND {at} <= coalesce($4, 'infinity') \
               ORDER BY {at}, {key} LIMIT {SWEEP_BATCH} FOR UPDATE SKIP LOCKED))"
        );
        diesel::sql_query(query)
            .bind::<Id, _>(edge.project)
            .bind::<At, _>(edge.at)
            .bind::<Text, _>(&edge.key)
            .bind::<Nullable<At>, _>(until.map(At::from))
            .execute(conn)
    }
}

#[async_trait]
impl TestQuotaStore for PostgresStore {
    async fn trim(&self, quota: TestQuota, now: Timestamp) -> Result<u64, StoreError> {
        let mut dropped = 0;
        for record in TestRecord::ALL {
            let (kind, until) = (kind(record), quota.goes_until(record, now));
            let edges =
                self.read("otp.trim", move |conn| Ok(kind.edges(conn, quota.kept)?)).await?;
            for edge in edges {
                let some = move |conn: &mut _| kind.drop_some(conn, &edge, until);
                dropped += self.in_batches(some).await?;
            }
        }
        self.in_batches(|conn| {
            diesel::sql_query(format!(
                "DELETE FROM guess_budgets WHERE ctid = ANY (ARRAY(\
                   SELECT ctid FROM guess_budgets WHERE mode = 'test' LIMIT {SWEEP_BATCH} \
                   FOR UPDATE SKIP LOCKED))"
            ))
            .execute(conn)
        })
        .await?;
        Ok(dropped)
    }
}
