use super::{Beginning, Lifetimes, Record, Slot};
use async_trait::async_trait;
use dwar_kernel::{Sealed, StoreError, Timestamp};

/// Keeps first answers.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait IdempotencyStore: Send + Sync {
    /// Asks for a slot; `record` (without an answer) is stored if the slot is free or given up.
    ///
    /// Of any number of calls at once on a free slot exactly one MUST get [`Beginning::Fresh`]. The
    /// rule is [`Record::judge`], at `record.began_at`.
    async fn begin(
        &self,
        slot: Slot,
        record: Record,
        lifetimes: Lifetimes,
    ) -> Result<Beginning, StoreError>;

    /// Stores the answer of the request that began at `began_at`, if it still holds the slot.
    async fn complete(
        &self,
        slot: Slot,
        began_at: Timestamp,
        answer: Sealed,
    ) -> Result<(), StoreError>;

    /// Frees the slot of the request that began at `began_at`, if it holds it unanswered.
    async fn abandon(&self, slot: Slot, began_at: Timestamp) -> Result<(), StoreError>;

    /// Drops records that began before `before`; gives their number.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}
