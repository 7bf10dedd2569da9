//! Rows of the first answer to an idempotency key.

use crate::schema::idempotency_records;
use crate::{At, Id, Row, sealed_bytes};
use diesel::prelude::*;
use dwar_kernel::{Sealed, StoreError};
use dwar_otp::idempotency::{IdempotencyRecord, IdempotencySlot};

/// The values of a slot's primary key, in the order of its columns.
pub fn slot_key(slot: &IdempotencySlot) -> (Id, &'static str, &'static str, &[u8]) {
    (
        slot.project_mode.project.into(),
        slot.project_mode.mode.as_str(),
        slot.route,
        slot.key.0.as_slice(),
    )
}

/// Filters a slot that the request which began at that time still holds: `unanswered!(slot,
/// began_at)`.
#[macro_export]
macro_rules! unanswered {
    ($slot:expr, $began_at:expr) => {
        idempotency_records::table
            .find($crate::slot_key(&$slot))
            .filter(idempotency_records::began_at.eq($crate::At::from($began_at)))
            .filter(idempotency_records::answer.is_null())
    };
}

/// The columns of a slot except its primary key.
#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = idempotency_records, treat_none_as_null = true)]
pub struct RecordRow {
    pub fingerprint: Vec<u8>,
    pub phone_index: Vec<u8>,
    pub began_at: At,
    pub answer: Option<Vec<u8>>,
}

impl From<&IdempotencyRecord> for RecordRow {
    fn from(record: &IdempotencyRecord) -> Self {
        Self {
            fingerprint: record.fingerprint.0.to_vec(),
            phone_index: record.phone.0.to_vec(),
            began_at: record.began_at.into(),
            answer: sealed_bytes(record.answer.as_ref()),
        }
    }
}

impl RecordRow {
    /// What the slot holds.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] if the row cannot be decoded.
    pub fn into_record(self, slot: &IdempotencySlot) -> Result<IdempotencyRecord, StoreError> {
        let read = Row::new(
            "idempotency_records",
            format!("{} {}", slot.project_mode.project, slot.route),
        );
        Ok(IdempotencyRecord {
            fingerprint: read.digest("fingerprint", self.fingerprint)?,
            phone: read.index("phone_index", self.phone_index)?,
            began_at: read.at("began_at", self.began_at)?,
            answer: self.answer.map(Sealed),
        })
    }
}
