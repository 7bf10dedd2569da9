use crate::PostgresStore;
use crate::connection::error::{Failure, unavailable};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Sealed, StoreError, Timestamp};
use dwar_otp::idempotency::{Beginning, IdempotencyStore, Lifetimes, Record, Slot};
use dwar_sql::schema::idempotency_records::{self, dsl};
use dwar_sql::{RecordRow, slot_key, unanswered};

/// How often a slot may vanish between the look and the lock before we give up.
const TRIES: u32 = 5;

#[async_trait]
impl IdempotencyStore for PostgresStore {
    async fn begin(
        &self,
        slot: Slot,
        record: Record,
        lifetimes: Lifetimes,
    ) -> Result<Beginning, StoreError> {
        self.pool
            .of(slot.project)
            .transaction(move |conn| {
                for _ in 0..TRIES {
                    if let Some(beginning) = take(conn, &slot, &record, lifetimes)? {
                        return Ok(beginning);
                    }
                }
                Err(unavailable("a record is taken and freed too often").into())
            })
            .await
    }

    async fn complete(
        &self,
        slot: Slot,
        began_at: Timestamp,
        answer: Sealed,
    ) -> Result<(), StoreError> {
        self.pool
            .of(slot.project)
            .run(move |conn| {
                diesel::update(unanswered!(slot, began_at))
                    .set(dsl::answer.eq(&answer.0))
                    .execute(conn)?;
                Ok(())
            })
            .await
    }

    async fn abandon(&self, slot: Slot, began_at: Timestamp) -> Result<(), StoreError> {
        self.pool
            .of(slot.project)
            .run(move |conn| {
                diesel::delete(unanswered!(slot, began_at)).execute(conn)?;
                Ok(())
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.drop_before("idempotency_records", "began_at", before).await
    }
}

/// Takes a slot that is free or given up, or tells what holds it; `None` if that has just gone.
fn take(
    conn: &mut PgConnection,
    slot: &Slot,
    record: &Record,
    lifetimes: Lifetimes,
) -> Result<Option<Beginning>, Failure> {
    let (project, mode, route, key) = slot_key(slot);
    let fresh = (
        dsl::project_id.eq(project),
        dsl::mode.eq(mode),
        dsl::route.eq(route),
        dsl::key_digest.eq(key),
        RecordRow::from(record),
    );
    // Waits for whoever is about to insert the same.
    let inserted = diesel::insert_into(dsl::idempotency_records)
        .values(fresh)
        .on_conflict_do_nothing()
        .execute(conn)?;
    if inserted == 1 {
        return Ok(Some(Beginning::Fresh));
    }
    let held: Option<RecordRow> = dsl::idempotency_records
        .find((project, mode, route, key))
        .select(RecordRow::as_select())
        .for_update()
        .first(conn)
        .optional()?;
    let Some(held) = held else { return Ok(None) };
    let judged = held.into_record(slot)?.judge(record.fingerprint, lifetimes, record.began_at);
    if judged.is_none() {
        diesel::update(dsl::idempotency_records.find((project, mode, route, key)))
            .set(RecordRow::from(record))
            .execute(conn)?;
    }
    Ok(Some(judged.unwrap_or(Beginning::Fresh)))
}
