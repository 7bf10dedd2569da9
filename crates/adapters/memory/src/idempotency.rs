use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{Sealed, StoreError, Timestamp};
use dwar_otp::idempotency::{Beginning, IdempotencyStore, Lifetimes, Record, Slot};

#[async_trait]
impl IdempotencyStore for MemoryStore {
    async fn begin(
        &self,
        slot: Slot,
        record: Record,
        lifetimes: Lifetimes,
    ) -> Result<Beginning, StoreError> {
        self.step("IdempotencyStore::begin", |state| {
            let held = state.records.get(&slot);
            let judged =
                held.and_then(|held| held.judge(record.fingerprint, lifetimes, record.began_at));
            judged.unwrap_or_else(|| {
                state.records.insert(slot, record);
                Beginning::Fresh
            })
        })
        .await
    }

    async fn complete(
        &self,
        slot: Slot,
        began_at: Timestamp,
        answer: Sealed,
    ) -> Result<(), StoreError> {
        self.step("IdempotencyStore::complete", |state| {
            let held = state.records.get_mut(&slot).filter(|held| held.began_at == began_at);
            if let Some(held) = held {
                held.answer = Some(answer);
            }
        })
        .await
    }

    async fn abandon(&self, slot: Slot, began_at: Timestamp) -> Result<(), StoreError> {
        self.step("IdempotencyStore::abandon", |state| {
            state.records.retain(|at, held| {
                *at != slot || held.began_at != began_at || held.answer.is_some()
            });
        })
        .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.step("IdempotencyStore::sweep", |state| {
            let held = state.records.len();
            state.records.retain(|_, record| record.began_at >= before);
            (held - state.records.len()) as u64
        })
        .await
    }
}
