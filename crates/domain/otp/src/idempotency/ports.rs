use super::{IdempotencyDecision, IdempotencyRecord, IdempotencySlot, Lifetimes};
use async_trait::async_trait;
use dwar_kernel::{Sealed, StoreError, Timestamp};

/// Keeps the first answer to each idempotency key.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// Asks for a slot. If the slot is free or given up, `record` (without an answer) is stored in it.
    ///
    /// Exactly one of any number of concurrent calls on a free slot MUST get [`IdempotencyDecision::Fresh`]. A taken
    /// slot is judged by [`IdempotencyRecord::judge`] at `record.began_at`.
    async fn begin(
        &self,
        slot: IdempotencySlot,
        record: IdempotencyRecord,
        lifetimes: Lifetimes,
    ) -> Result<IdempotencyDecision, StoreError>;

    /// Stores the answer of the request that began at `began_at`, if that request still holds the slot.
    async fn complete(
        &self,
        slot: IdempotencySlot,
        began_at: Timestamp,
        answer: Sealed,
    ) -> Result<(), StoreError>;

    /// Frees the slot of the request that began at `began_at`, if that request still holds it without an
    /// answer.
    async fn abandon(&self, slot: IdempotencySlot, began_at: Timestamp) -> Result<(), StoreError>;

    /// Deletes records that began before `before`; returns how many.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}
