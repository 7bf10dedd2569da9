use crate::PostgresStore;
use crate::connection::statement::each;
use crate::connection::sweep::SWEEP_BATCH;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text};
use dwar_kernel::{ReceiptId, StoreError, Timestamp};
use dwar_otp::{KeptReceipt, ReceiptReview, ReceiptRoom, ReceiptStore, UnknownReceipts};
use dwar_sql::schema::receipts;
use dwar_sql::{At, Id, ReceiptRow, Row, UnknownRow, legible, readable};
use std::time::Duration;

/// Stores receipts in one statement. Each counts as known if its attempt is on record.
const KEEP: &str = "INSERT INTO receipts \
         (id, provider, provider_ref, report, reason, received_at, known, due_at) \
     SELECT r.id, r.provider, r.provider_ref, r.report, r.reason, r.received_at, k.known, \
            CASE WHEN k.known THEN r.received_at ELSE r.check_at END \
     FROM unnest($1, $2, $3, $4, $5, $6, $7) WITH ORDINALITY \
         AS r (id, provider, provider_ref, report, reason, received_at, check_at, place) \
     CROSS JOIN LATERAL (SELECT EXISTS ( \
         SELECT 1 FROM otp_attempts a \
         WHERE a.provider = r.provider AND a.provider_ref = r.provider_ref \
     ) AS known) k ORDER BY r.place ON CONFLICT DO NOTHING";

const REVIEW: &str = "SELECT r.id, r.received_at, EXISTS ( \
         SELECT 1 FROM otp_attempts a \
         WHERE a.provider = r.provider AND a.provider_ref = r.provider_ref \
     ) AS known FROM receipts r WHERE NOT r.known AND r.due_at <= $1 \
     ORDER BY r.due_at LIMIT $2 FOR UPDATE OF r SKIP LOCKED";

/// One condition for each of the three partial indexes that together hold every receipt.
const BRING_FORWARD: &str = "UPDATE receipts SET due_at = $1 \
     WHERE known AND report <> 'failed' AND due_at > $2 \
     OR known AND report = 'failed' AND due_at > $2 OR NOT known AND due_at > $2";
const PUT_OFF: &str = "UPDATE receipts r SET due_at = n.due_at, known = n.known \
     FROM unnest($1, $2, $3) AS n (id, due_at, known) WHERE r.id = n.id";

/// The oldest unknown receipts beyond the newest `$1`.
const CROWD_OUT: &str = "DELETE FROM receipts WHERE id IN ( \
         SELECT id FROM receipts WHERE NOT known ORDER BY received_at, id \
         LIMIT (SELECT least($2, greatest(0, count(*) - $1)) FROM receipts WHERE NOT known) \
         FOR UPDATE SKIP LOCKED)";

const REVIEWED_AT_ONCE: i64 = 1_000;

#[async_trait]
impl ReceiptStore for PostgresStore {
    async fn keep(&self, receipts: Vec<KeptReceipt>) -> Result<(), StoreError> {
        self.write_one("otp.keep", move |conn| {
            let rows: Vec<ReceiptRow> = receipts.iter().map(ReceiptRow::from).collect();
            let check = |at| At::from(KeptReceipt::next_check(at, at).unwrap_or(at));
            diesel::sql_query(KEEP)
                .bind::<Array<Id>, _>(each(&rows, |row| row.id))
                .bind::<Array<Text>, _>(each(&rows, |row| &row.provider))
                .bind::<Array<Text>, _>(each(&rows, |row| &row.provider_ref))
                .bind::<Array<Text>, _>(each(&rows, |row| &row.report))
                .bind::<Array<Nullable<Text>>, _>(each(&rows, |row| row.reason.as_deref()))
                .bind::<Array<At>, _>(each(&rows, |row| row.received_at))
                .bind::<Array<At>, _>(each(&receipts, |kept| check(kept.received_at)))
                .execute(conn)?;
            Ok(())
        })
        .await
    }

    async fn claim(
        &self,
        now: Timestamp,
        lease: Duration,
        room: ReceiptRoom,
    ) -> Result<Vec<KeptReceipt>, StoreError> {
        self.write("otp.claim", move |conn| {
            let mut rows = due(conn, "r.report <> 'failed'", room.others, now)?;
            rows.extend(due(conn, "r.report = 'failed'", room.calling, now)?);
            if rows.is_empty() {
                return Ok(Vec::new());
            }
            diesel::update(receipts::table)
                .filter(receipts::id.eq_any(rows.iter().map(|row| row.id)))
                .set(receipts::due_at.eq(At::from(now + lease)))
                .execute(conn)?;
            Ok(readable!(rows))
        })
        .await
    }

    async fn bring_forward(&self, later_than: Timestamp, to: Timestamp) -> Result<u64, StoreError> {
        self.write_one("otp.bring_receipts_forward", move |conn| {
            let query = diesel::sql_query(BRING_FORWARD).bind::<At, _>(At::from(to));
            let brought = query.bind::<At, _>(At::from(later_than)).execute(conn)?;
            Ok(u64::try_from(brought).unwrap_or(u64::MAX))
        })
        .await
    }

    async fn done(&self, receipt: ReceiptId) -> Result<(), StoreError> {
        self.write_one("otp.done", move |conn| {
            diesel::delete(receipts::table.find(Id::from(receipt))).execute(conn)?;
            Ok(())
        })
        .await
    }

    async fn review(&self, now: Timestamp, most: u32) -> Result<ReceiptReview, StoreError> {
        self.write("otp.review", move |conn| {
            let due: Vec<UnknownRow> = diesel::sql_query(REVIEW)
                .bind::<At, _>(At::from(now))
                .bind::<BigInt, _>(REVIEWED_AT_ONCE)
                .load(conn)?;
            let mut over = Vec::new();
            let (mut ids, mut dues, mut known) = (Vec::new(), Vec::new(), Vec::new());
            for row in due {
                let at = Row::new("receipts", row.id).at("received_at", row.received_at);
                let Some(at) = legible!(at) else { continue };
                let next = match row.known {
                    true => Some(at),
                    false => KeptReceipt::next_check(at, now),
                };
                let Some(next) = next else {
                    over.push(row.id);
                    continue;
                };
                ids.push(row.id);
                dues.push(At::from(next));
                known.push(row.known);
            }
            if !ids.is_empty() {
                diesel::sql_query(PUT_OFF)
                    .bind::<Array<Id>, _>(ids)
                    .bind::<Array<At>, _>(dues)
                    .bind::<Array<Bool>, _>(known)
                    .execute(conn)?;
            }
            if !over.is_empty() {
                diesel::delete(receipts::table.filter(receipts::id.eq_any(&over))).execute(conn)?;
            }
            let crowded_out = diesel::sql_query(CROWD_OUT)
                .bind::<BigInt, _>(i64::from(most))
                .bind::<BigInt, _>(SWEEP_BATCH)
                .execute(conn)?;
            let number = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX);
            Ok(ReceiptReview { expired: number(over.len()), crowded_out: number(crowded_out) })
        })
        .await
    }

    async fn unknown(&self) -> Result<UnknownReceipts, StoreError> {
        self.read("otp.unknown", move |conn| {
            let (count, oldest): (i64, Option<At>) = receipts::table
                .filter(diesel::dsl::not(receipts::known))
                .select((diesel::dsl::count(receipts::id), diesel::dsl::min(receipts::received_at)))
                .first(conn)?;
            let oldest = Row::new("receipts", "min").maybe_at("received_at", oldest)?;
            Ok(UnknownReceipts { count: u64::try_from(count).unwrap_or_default(), oldest })
        })
        .await
    }
}

/// Locks and returns known receipts of a kind that are due, except those that have to wait for an
/// older one.
fn due(
    conn: &mut PgConnection,
    kind: &'static str,
    most: u32,
    now: Timestamp,
) -> QueryResult<Vec<ReceiptRow>> {
    if most == 0 {
        return Ok(Vec::new());
    }
    diesel::sql_query(format!(
        "SELECT r.* FROM receipts r WHERE r.known AND {kind} AND r.due_at <= $1 AND NOT EXISTS ( \
             SELECT 1 FROM receipts o \
             WHERE o.provider = r.provider AND o.provider_ref = r.provider_ref \
               AND (o.received_at, o.id) < (r.received_at, r.id) \
         ) ORDER BY r.due_at, r.id LIMIT $2 FOR UPDATE OF r SKIP LOCKED"
    ))
    .bind::<At, _>(At::from(now))
    .bind::<BigInt, _>(i64::from(most))
    .load(conn)
}
