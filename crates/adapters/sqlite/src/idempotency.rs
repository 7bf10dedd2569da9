use crate::connection::look_up_cache::OutdatedLookUps;
use crate::connection::pool::SqliteStore;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Sealed, StoreError, Timestamp};
use dwar_otp::idempotency::{
    IdempotencyDecision, IdempotencyRecord, IdempotencySlot, IdempotencyStore, Lifetimes,
};
use dwar_sql::schema::idempotency_records;
use dwar_sql::statement;
use dwar_sql::{At, RecordRow, slot_key, unanswered};

#[async_trait]
impl IdempotencyStore for SqliteStore {
    async fn begin(
        &self,
        slot: IdempotencySlot,
        record: IdempotencyRecord,
        lifetimes: Lifetimes,
    ) -> Result<IdempotencyDecision, StoreError> {
        self.of(slot.project_mode.project)
            .write_that("otp.begin", OutdatedLookUps::NoLookUp, move |connection| {
                let (project, mode, route, key) = slot_key(&slot);
                let place = idempotency_records::table.find((project, mode, route, key));
                let held =
                    place.select(RecordRow::as_select()).get_result(connection).optional()?;
                let held = held.map(|held: RecordRow| held.into_record(&slot)).transpose()?;
                let judged = held
                    .and_then(|held| held.judge(record.fingerprint, lifetimes, record.began_at));
                if let Some(beginning) = judged {
                    return Ok(beginning);
                }
                let row = (
                    idempotency_records::project_id.eq(project),
                    idempotency_records::mode.eq(mode),
                    idempotency_records::route.eq(route),
                    idempotency_records::key_digest.eq(key),
                    RecordRow::from(&record),
                );
                diesel::replace_into(idempotency_records::table).values(row).execute(connection)?;
                Ok(IdempotencyDecision::Fresh)
            })
            .await
    }

    async fn complete(
        &self,
        slot: IdempotencySlot,
        began_at: Timestamp,
        answer: Sealed,
    ) -> Result<(), StoreError> {
        self.of(slot.project_mode.project)
            .write_that("otp.complete", OutdatedLookUps::NoLookUp, move |connection| {
                let answered = idempotency_records::answer.eq(answer.0);
                statement::update(unanswered!(slot, began_at), answered).execute(connection)?;
                Ok(())
            })
            .await
    }

    async fn abandon(&self, slot: IdempotencySlot, began_at: Timestamp) -> Result<(), StoreError> {
        self.of(slot.project_mode.project)
            .write_that("otp.abandon", OutdatedLookUps::NoLookUp, move |connection| {
                diesel::delete(unanswered!(slot, began_at)).execute(connection)?;
                Ok(())
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let before = At::from(before);
        self.drain_gently(move |connection, rows| {
            let old = idempotency_records::table.filter(idempotency_records::began_at.lt(before));
            let edge = old
                .order(idempotency_records::began_at)
                .select(idempotency_records::began_at)
                .offset(rows.into())
                .first(connection)
                .optional()?;
            diesel::delete(old.filter(idempotency_records::began_at.le(edge.unwrap_or(before))))
                .execute(connection)
        })
        .await
    }
}
