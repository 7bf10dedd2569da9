use crate::PostgresStore;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use dwar_kernel::{StoreError, Timestamp};
use dwar_otp::{TestQuota, TestQuotaStore};
use uuid::Uuid;

/// How many records one statement drops at most: some ten milliseconds.
const BATCH: usize = 500;

/// One kind of record that a quota bounds.
#[derive(Clone, Copy)]
struct Kind {
    table: &'static str,
    /// Its age; `TABLE_of_tests` is ordered by this and then `key` within a project.
    at: &'static str,
    key: &'static str,
    key_type: &'static str,
    /// Which of the records beyond the quota may go.
    goes: Goes,
}

#[derive(Clone, Copy)]
enum Goes {
    Expired,
    Unused,
    Always,
}

const KINDS: [Kind; 6] = [
    Kind { table: "otps", at: "expires_at", key: "id", key_type: "uuid", goes: Goes::Expired },
    Kind {
        table: "idempotency_records",
        at: "began_at",
        key: "key_digest",
        key_type: "bytea",
        goes: Goes::Unused,
    },
    Kind {
        table: "send_slots",
        at: "taken_at",
        key: "send_id",
        key_type: "uuid",
        goes: Goes::Unused,
    },
    Kind { table: "sessions", at: "created_at", key: "id", key_type: "uuid", goes: Goes::Always },
    Kind {
        table: "identities",
        at: "last_verified_at",
        key: "id",
        key_type: "uuid",
        goes: Goes::Always,
    },
    Kind { table: "events", at: "happened_at", key: "id", key_type: "text", goes: Goes::Always },
];

/// The newest record that is beyond the quota of its project.
#[derive(Clone, QueryableByName)]
struct Edge {
    #[diesel(sql_type = SqlUuid)]
    project: Uuid,
    #[diesel(sql_type = Timestamptz)]
    at: Timestamp,
    #[diesel(sql_type = Text)]
    key: String,
}

impl Kind {
    fn until(self, quota: TestQuota, now: Timestamp) -> Option<Timestamp> {
        match self.goes {
            Goes::Expired => Some(now),
            Goes::Unused => Some(quota.unused_since(now)),
            Goes::Always => None,
        }
    }

    /// Walks as many index entries of each project as the quota keeps.
    fn edges(self, conn: &mut PgConnection, kept: u32) -> QueryResult<Vec<Edge>> {
        let Self { table, at, key, .. } = self;
        let query = format!(
            "SELECT projects.id AS project, edge.at, edge.key FROM projects CROSS JOIN LATERAL (\
               SELECT {at} AS at, {key}::text AS key FROM {table} \
               WHERE project_id = projects.id AND mode = 'test' \
               ORDER BY {at} DESC, {table}.{key} DESC OFFSET $1 LIMIT 1) AS edge"
        );
        diesel::sql_query(query).bind::<BigInt, _>(i64::from(kept)).load(conn)
    }

    /// Drops the oldest [`BATCH`] records up to the edge, but none that somebody is at.
    fn drop_some(
        self,
        conn: &mut PgConnection,
        edge: &Edge,
        until: Option<Timestamp>,
    ) -> QueryResult<usize> {
        let Self { table, at, key, key_type, .. } = self;
        let query = format!(
            "DELETE FROM {table} WHERE ctid = ANY (ARRAY(\
               SELECT ctid FROM {table} WHERE project_id = $1 AND mode = 'test' \
               AND ({at}, {key}) <= ($2, $3::{key_type}) \
               AND {at} <= coalesce($4, 'infinity') \
               ORDER BY {at}, {key} LIMIT {BATCH} FOR UPDATE SKIP LOCKED))"
        );
        diesel::sql_query(query)
            .bind::<SqlUuid, _>(edge.project)
            .bind::<Timestamptz, _>(edge.at)
            .bind::<Text, _>(&edge.key)
            .bind::<Nullable<Timestamptz>, _>(until)
            .execute(conn)
    }
}

#[async_trait]
impl TestQuotaStore for PostgresStore {
    async fn trim(&self, quota: TestQuota, now: Timestamp) -> Result<u64, StoreError> {
        let mut dropped = 0;
        for kind in KINDS {
            let until = kind.until(quota, now);
            let edges = self.pool.run(move |conn| Ok(kind.edges(conn, quota.kept)?)).await?;
            for edge in edges {
                let some = move |conn: &mut _| kind.drop_some(conn, &edge, until);
                dropped += self.in_batches(BATCH, some).await?;
            }
        }
        self.in_batches(BATCH, |conn| {
            diesel::sql_query(format!(
                "DELETE FROM guess_budgets WHERE ctid = ANY (ARRAY(\
                   SELECT ctid FROM guess_budgets WHERE mode = 'test' LIMIT {BATCH} \
                   FOR UPDATE SKIP LOCKED))"
            ))
            .execute(conn)
        })
        .await?;
        Ok(dropped)
    }
}
