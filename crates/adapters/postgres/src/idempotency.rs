use crate::PostgresStore;
use crate::connection::error::{Failure, unavailable};
use crate::connection::statement::Statement;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Sealed, StoreError, Timestamp};
use dwar_otp::idempotency::{
    IdempotencyDecision, IdempotencyRecord, IdempotencySlot, IdempotencyStore, Lifetimes,
};
use dwar_sql::schema::idempotency_records::{self, dsl};
use dwar_sql::{At, RecordRow, slot_key, statement, unanswered};

/// Most attempts when a slot disappears between the read and the lock.
const TRIES: u32 = 5;

/// Takes a slot that is free, or whose holder has lost it according to `IdempotencyRecord::judge`.
const TAKE: &str = "
INSERT INTO idempotency_records AS held
       (project_id, mode, route, key_digest, fingerprint, phone_index, began_at)
SELECT project_id, mode, route, key_digest, fingerprint, phone_index, began_at FROM given
    ON CONFLICT (project_id, mode, route, key_digest) DO UPDATE
   SET fingerprint = excluded.fingerprint, phone_index = excluded.phone_index,
       began_at = excluded.began_at, answer = NULL
 WHERE held.began_at <= (SELECT old FROM given)
    OR held.began_at <= (SELECT dead FROM given)
       AND held.answer IS NULL AND held.fingerprint = excluded.fingerprint";

#[async_trait]
impl IdempotencyStore for PostgresStore {
    async fn begin(
        &self,
        slot: IdempotencySlot,
        record: IdempotencyRecord,
        lifetimes: Lifetimes,
    ) -> Result<IdempotencyDecision, StoreError> {
        let mut again = false;
        self.of(slot.project_mode.project)
            .write_one("otp.begin", move |conn| {
                let again = std::mem::replace(&mut again, true);
                for _ in 0..TRIES {
                    match take(conn, &slot, &record, lifetimes)? {
                        // This request itself may have taken the slot before the connection was
                        // lost.
                        Some(IdempotencyDecision::Running) if again => {
                            return Err(unavailable("who holds a slot is not known").into());
                        }
                        Some(beginning) => return Ok(beginning),
                        None => {}
                    }
                }
                Err(unavailable("a record is taken and freed too often").into())
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
            .write_one("otp.complete", move |conn| {
                let answered = dsl::answer.eq(answer.0.as_slice());
                statement::update(unanswered!(slot, began_at), answered).execute(conn)?;
                Ok(())
            })
            .await
    }

    async fn abandon(&self, slot: IdempotencySlot, began_at: Timestamp) -> Result<(), StoreError> {
        self.of(slot.project_mode.project)
            .write_one("otp.abandon", move |conn| {
                diesel::delete(unanswered!(slot, began_at)).execute(conn)?;
                Ok(())
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.drop_before("idempotency_records", "began_at", before).await
    }
}

/// Takes a free or abandoned slot in one statement, or returns its holder; `None` if the holder has
/// just gone.
fn take(
    conn: &mut PgConnection,
    slot: &IdempotencySlot,
    record: &IdempotencyRecord,
    lifetimes: Lifetimes,
) -> Result<Option<IdempotencyDecision>, Failure> {
    let place @ (project, mode, route, key) = slot_key(slot);
    let statement = Statement::new(TAKE)
        .column(dsl::project_id, project)
        .column(dsl::mode, mode)
        .column(dsl::route, route)
        .column(dsl::key_digest, key)
        .given::<At, _>("old", At::from(record.began_at - lifetimes.keep))
        .given::<At, _>("dead", At::from(record.began_at - lifetimes.lease));
    let row = RecordRow::from(record);
    let statement = given!(statement, idempotency_records of row, fingerprint phone_index began_at);
    // Waits for a transaction that is about to insert the same slot.
    if statement.execute(conn)? == 1 {
        return Ok(Some(IdempotencyDecision::Fresh));
    }
    let held: Option<RecordRow> = dsl::idempotency_records
        .find(place)
        .select(RecordRow::as_select())
        .first(conn)
        .optional()?;
    let held = held.map(|held| held.into_record(slot)).transpose()?;
    Ok(held.and_then(|held| held.judge(record.fingerprint, lifetimes, record.began_at)))
}
