use crate::convert::{Row, sealed_bytes};
use crate::pool::{SWEEP, SqliteStore};
use crate::schema::idempotency_records;
use crate::statement;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Sealed, StoreError, Timestamp};
use dwar_otp::idempotency::{Beginning, IdempotencyStore, Lifetimes, Record, Slot};

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = idempotency_records, treat_none_as_null = true)]
struct RecordRow {
    project_id: String,
    mode: String,
    route: String,
    key_digest: Vec<u8>,
    fingerprint: Vec<u8>,
    phone_index: Vec<u8>,
    began_at: i64,
    answer: Option<Vec<u8>>,
}

impl RecordRow {
    fn new(slot: Slot, record: &Record) -> Self {
        Self {
            project_id: slot.project.to_string(),
            mode: slot.mode.to_string(),
            route: slot.route.to_owned(),
            key_digest: slot.key.0.to_vec(),
            fingerprint: record.fingerprint.0.to_vec(),
            phone_index: record.phone.0.to_vec(),
            began_at: record.began_at.timestamp_millis(),
            answer: sealed_bytes(record.answer.as_ref()),
        }
    }
}

impl TryFrom<RecordRow> for Record {
    type Error = StoreError;

    fn try_from(stored: RecordRow) -> Result<Self, StoreError> {
        let row = Row::new("idempotency_records", &stored.project_id);
        Ok(Self {
            fingerprint: row.digest("fingerprint", &stored.fingerprint)?,
            phone: row.index("phone_index", &stored.phone_index)?,
            began_at: row.instant("began_at", stored.began_at)?,
            answer: stored.answer.map(Sealed),
        })
    }
}

/// The slot as long as the request that began then holds it; a macro, since the type has no name.
macro_rules! unanswered {
    ($slot:expr, $began_at:expr) => {
        idempotency_records::table
            .filter(idempotency_records::project_id.eq($slot.project.to_string()))
            .filter(idempotency_records::mode.eq($slot.mode.as_str()))
            .filter(idempotency_records::route.eq($slot.route))
            .filter(idempotency_records::key_digest.eq($slot.key.0.to_vec()))
            .filter(idempotency_records::began_at.eq($began_at.timestamp_millis()))
            .filter(idempotency_records::answer.is_null())
    };
}

#[async_trait]
impl IdempotencyStore for SqliteStore {
    async fn begin(
        &self,
        slot: Slot,
        record: Record,
        lifetimes: Lifetimes,
    ) -> Result<Beginning, StoreError> {
        self.write(move |connection| {
            let row = RecordRow::new(slot, &record);
            let key = (&row.project_id, &row.mode, &row.route, &row.key_digest);
            let place = idempotency_records::table.find(key);
            let held = place.select(RecordRow::as_select()).get_result(connection).optional()?;
            let held = held.map(Record::try_from).transpose()?;
            let judged =
                held.and_then(|held| held.judge(record.fingerprint, lifetimes, record.began_at));
            if let Some(beginning) = judged {
                return Ok(beginning);
            }
            diesel::replace_into(idempotency_records::table).values(&row).execute(connection)?;
            Ok(Beginning::Fresh)
        })
        .await
    }

    async fn complete(
        &self,
        slot: Slot,
        began_at: Timestamp,
        answer: Sealed,
    ) -> Result<(), StoreError> {
        self.write(move |connection| {
            let answered = idempotency_records::answer.eq(answer.0);
            statement::update(unanswered!(slot, began_at), answered).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn abandon(&self, slot: Slot, began_at: Timestamp) -> Result<(), StoreError> {
        self.write(move |connection| {
            diesel::delete(unanswered!(slot, began_at)).execute(connection)?;
            Ok(())
        })
        .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let before = before.timestamp_millis();
        self.drain(move |connection| {
            let old = idempotency_records::table.filter(idempotency_records::began_at.lt(before));
            let edge = old
                .order(idempotency_records::began_at)
                .select(idempotency_records::began_at)
                .offset(SWEEP.into())
                .first(connection)
                .optional()?;
            diesel::delete(old.filter(idempotency_records::began_at.le(edge.unwrap_or(before))))
                .execute(connection)
        })
        .await
    }
}
