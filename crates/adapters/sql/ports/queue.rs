use crate::dialect::Store;
use crate::event::feed::held_back;
use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool, Integer};
use dwar_activity::installation::{COUNTED, QueueStore, Queues};
use dwar_kernel::{StoreError, Timestamp};
use dwar_sql::schema::{otps, receipts, wallet_holds};
use dwar_sql::{At, WaitsRow, backlog, legible};

/// Few index look-ups per endpoint, however many deliveries wait for it.
const LONGEST: &str = "SELECT id, project_id, due, later, later_since, \
     CASE WHEN first_at <= $1 THEN first_at END AS due_since FROM ( \
     SELECT e.id, e.project_id, \
            (SELECT min(d.due_at) FROM event_deliveries d WHERE d.endpoint_id = e.id) AS first_at, \
            (SELECT count(*) FROM (SELECT 1 FROM event_deliveries d \
             WHERE d.endpoint_id = e.id AND d.due_at <= $1 LIMIT $2) counted) AS due, \
            (SELECT min(d.due_at) FROM event_deliveries d \
             WHERE d.endpoint_id = e.id AND d.due_at > $1) AS later_since, \
            (SELECT count(*) FROM (SELECT 1 FROM event_deliveries d \
             WHERE d.endpoint_id = e.id AND d.due_at > $1 LIMIT $2) counted) AS later \
     FROM webhook_endpoints e JOIN projects p ON p.id = e.project_id WHERE p.archived_at IS NULL \
 ) waiting WHERE first_at IS NOT NULL ORDER BY first_at LIMIT $3";

/// Rows that are counted, plus one that shows whether there are more.
const READ: i64 = COUNTED as i64 + 1;

#[async_trait]
impl QueueStore for Store {
    async fn queues(&self, now: Timestamp, endpoints: u32) -> Result<Queues, StoreError> {
        let now = At::from(now);
        self.scan("installation.queues", move |conn| {
            let due = |failed: bool| {
                // Each kind has a partial index, which PostgreSQL uses only if the condition
                // matches word for word.
                let kind = match failed {
                    true => sql::<Bool>("known AND report = 'failed'"),
                    false => sql::<Bool>("known AND report <> 'failed'"),
                };
                let known = receipts::table.filter(kind).filter(receipts::due_at.le(now));
                let due = known.order(receipts::due_at);
                due.select(receipts::due_at.nullable()).limit(READ)
            };
            let (failed, others) = (due(true).load(conn)?, due(false).load(conn)?);
            let overdue = otps::table
                .filter(otps::due_at.le(now))
                .order(otps::due_at)
                .select(otps::due_at)
                .limit(READ)
                .load(conn)?;
            let held = wallet_holds::table
                .order(wallet_holds::send_id)
                .select(wallet_holds::held_since.nullable())
                .limit(READ)
                .load(conn)?;
            let mut queues = Queues {
                receipts: backlog(failed).and(backlog(others)),
                overdue_sends: backlog(overdue),
                open_holds: backlog(held),
                feed: backlog(held_back(conn, READ)?),
                ..Queues::default()
            };
            let longest: Vec<WaitsRow> = diesel::sql_query(LONGEST)
                .bind::<At, _>(now)
                .bind::<BigInt, _>(READ)
                .bind::<Integer, _>(i32::try_from(endpoints).unwrap_or(i32::MAX))
                .load(conn)?;
            for waits in longest {
                if let Some(project) = legible!(waits.project()) {
                    queues.add_events(project, waits.due(), waits.later());
                }
            }
            Ok(queues)
        })
        .await
    }
}
