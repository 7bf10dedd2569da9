use crate::connection::look_up_cache::OutdatedLookUps;
use crate::connection::pool::{SWEEP, SqliteStore};
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use dwar_kernel::{ReceiptId, StoreError, Timestamp};
use dwar_otp::{KeptReceipt, ReceiptReview, ReceiptRoom, ReceiptStore, UnknownReceipts};
use dwar_sql::schema::{otp_attempts, receipts};
use dwar_sql::{At, Id, ReceiptRow, Row, UnknownRow, legible};
use std::time::Duration;

/// Most unknown receipts that one review examines: a few milliseconds of the writer's time.
const REVIEWED_AT_ONCE: i64 = 500;

const REVIEW: &str = "SELECT r.id, r.received_at, EXISTS ( \
         SELECT 1 FROM otp_attempts a \
         WHERE a.provider = r.provider AND a.provider_ref = r.provider_ref \
     ) AS known FROM receipts r WHERE NOT r.known AND r.due_at <= ? ORDER BY r.due_at LIMIT ?";

/// The oldest unknown receipts beyond a maximum number.
const CROWD_OUT: &str = "DELETE FROM receipts WHERE id IN ( \
         SELECT id FROM receipts WHERE NOT known ORDER BY received_at, id \
         LIMIT (SELECT min(?, max(0, count(*) - ?)) FROM receipts WHERE NOT known))";

#[async_trait]
impl ReceiptStore for SqliteStore {
    async fn keep(&self, receipts: Vec<KeptReceipt>) -> Result<(), StoreError> {
        self.write_that("otp.keep", OutdatedLookUps::NoLookUp, move |connection| {
            for kept in receipts {
                let first_check = KeptReceipt::next_check(kept.received_at, kept.received_at);
                let row = ReceiptRow::from(&kept);
                let known = is_on_record(connection, &row.provider, &row.provider_ref)?;
                let due_at = first_check.filter(|_| !known).unwrap_or(kept.received_at);
                let due_at = receipts::due_at.eq(At::from(due_at));
                diesel::insert_into(receipts::table)
                    .values((row, due_at, receipts::known.eq(known)))
                    .on_conflict_do_nothing()
                    .execute(connection)?;
            }
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
        self.write_that("otp.claim", OutdatedLookUps::NoLookUp, move |connection| {
            let mut rows = due(connection, "r.report <> 'failed'", room.others, now)?;
            rows.extend(due(connection, "r.report = 'failed'", room.calling, now)?);
            let again = At::from(now + lease);
            let mut claimed = Vec::with_capacity(rows.len());
            for row in rows {
                let id = Row::new("receipts", row.id).id::<ReceiptId>("id", row.id);
                let Some(id) = legible!(id) else { continue };
                diesel::update(receipts::table.find(Id::from(id)))
                    .set(receipts::due_at.eq(again))
                    .execute(connection)?;
                claimed.extend(legible!(KeptReceipt::try_from(row)));
            }
            Ok(claimed)
        })
        .await
    }

    async fn bring_forward(&self, later_than: Timestamp, to: Timestamp) -> Result<u64, StoreError> {
        self.write_that(
            "otp.bring_receipts_forward",
            OutdatedLookUps::NoLookUp,
            move |connection| {
                let late = receipts::table.filter(receipts::due_at.gt(At::from(later_than)));
                let brought = diesel::update(late)
                    .set(receipts::due_at.eq(At::from(to)))
                    .execute(connection)?;
                Ok(u64::try_from(brought).unwrap_or(u64::MAX))
            },
        )
        .await
    }

    async fn done(&self, receipt: ReceiptId) -> Result<(), StoreError> {
        self.write_that("otp.done", OutdatedLookUps::NoLookUp, move |connection| {
            diesel::delete(receipts::table.find(Id::from(receipt))).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn review(&self, now: Timestamp, most: u32) -> Result<ReceiptReview, StoreError> {
        self.write_that("otp.review", OutdatedLookUps::NoLookUp, move |connection| {
            let due: Vec<UnknownRow> = diesel::sql_query(REVIEW)
                .bind::<At, _>(At::from(now))
                .bind::<BigInt, _>(REVIEWED_AT_ONCE)
                .load(connection)?;
            let mut expired = 0;
            for row in due {
                let received_at = Row::new("receipts", row.id).at("received_at", row.received_at);
                let Some(received_at) = legible!(received_at) else { continue };
                let next = match row.known {
                    true => Some(received_at),
                    false => KeptReceipt::next_check(received_at, now),
                };
                let found = receipts::table.find(row.id);
                if let Some(next) = next {
                    let then = (receipts::known.eq(row.known), receipts::due_at.eq(At::from(next)));
                    diesel::update(found).set(then).execute(connection)?;
                } else {
                    diesel::delete(found).execute(connection)?;
                    expired += 1;
                }
            }
            let crowded_out = diesel::sql_query(CROWD_OUT)
                .bind::<BigInt, _>(i64::from(SWEEP))
                .bind::<BigInt, _>(i64::from(most))
                .execute(connection)?;
            let crowded_out = u64::try_from(crowded_out).unwrap_or(u64::MAX);
            Ok(ReceiptReview { expired, crowded_out })
        })
        .await
    }

    async fn unknown(&self) -> Result<UnknownReceipts, StoreError> {
        self.scan("otp.unknown", move |connection| {
            let (count, oldest): (i64, Option<At>) = receipts::table
                .filter(diesel::dsl::not(receipts::known))
                .select((diesel::dsl::count(receipts::id), diesel::dsl::min(receipts::received_at)))
                .get_result(connection)?;
            let oldest = Row::new("receipts", "min").maybe_at("received_at", oldest)?;
            Ok(UnknownReceipts { count: u64::try_from(count).unwrap_or_default(), oldest })
        })
        .await
    }
}

/// Tells whether an attempt of this provider has this reference.
fn is_on_record(
    connection: &mut SqliteConnection,
    provider: &str,
    provider_ref: &str,
) -> QueryResult<bool> {
    let attempts = otp_attempts::table
        .filter(otp_attempts::provider.eq(provider))
        .filter(otp_attempts::provider_ref.eq(provider_ref));
    diesel::select(diesel::dsl::exists(attempts)).get_result(connection)
}

/// Known receipts of a kind that are due, except those that have to wait for an older one.
fn due(
    connection: &mut SqliteConnection,
    kind: &'static str,
    most: u32,
    now: Timestamp,
) -> QueryResult<Vec<ReceiptRow>> {
    if most == 0 {
        return Ok(Vec::new());
    }
    diesel::sql_query(format!(
        "SELECT r.* FROM receipts r WHERE r.known AND {kind} AND r.due_at <= ? AND NOT EXISTS ( \
             SELECT 1 FROM receipts o \
             WHERE o.provider = r.provider AND o.provider_ref = r.provider_ref \
               AND (o.received_at, o.id) < (r.received_at, r.id) \
         ) ORDER BY r.due_at, r.id LIMIT ?"
    ))
    .bind::<At, _>(At::from(now))
    .bind::<BigInt, _>(i64::from(most))
    .load(connection)
}
