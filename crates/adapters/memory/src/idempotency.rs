use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{Sealed, StoreError, Timestamp};
use dwar_otp::idempotency::{
    IdempotencyDecision, IdempotencyRecord, IdempotencySlot, IdempotencyStore, Lifetimes,
};

#[async_trait]
impl IdempotencyStore for MemoryStore {
    async fn begin(
        &self,
        slot: IdempotencySlot,
        record: IdempotencyRecord,
        lifetimes: Lifetimes,
    ) -> Result<IdempotencyDecision, StoreError> {
        let state = &mut *self.step("IdempotencyStore::begin").await?;
        let held = state.records.iter().find(|(at, _)| *at == slot);
        let judge =
            |held: &IdempotencyRecord| held.judge(record.fingerprint, lifetimes, record.began_at);
        if let Some(answer) = held.and_then(|(_, held)| judge(held)) {
            return Ok(answer);
        }
        state.records.retain(|(at, _)| *at != slot);
        state.records.push((slot, record));
        Ok(IdempotencyDecision::Fresh)
    }

    async fn complete(
        &self,
        slot: IdempotencySlot,
        began_at: Timestamp,
        answer: Sealed,
    ) -> Result<(), StoreError> {
        let state = &mut *self.step("IdempotencyStore::complete").await?;
        let mut held = state.records.iter_mut();
        if let Some((_, held)) = held.find(|(at, r)| (*at, r.began_at) == (slot, began_at)) {
            held.answer = Some(answer);
        }
        Ok(())
    }

    async fn abandon(&self, slot: IdempotencySlot, began_at: Timestamp) -> Result<(), StoreError> {
        let state = &mut *self.step("IdempotencyStore::abandon").await?;
        let kept = |(at, held): &(IdempotencySlot, IdempotencyRecord)| {
            (*at, held.began_at) != (slot, began_at) || held.answer.is_some()
        };
        state.records.retain(kept);
        Ok(())
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("IdempotencyStore::sweep").await?;
        Ok(state.records.extract_if(.., |(_, held)| held.began_at < before).count() as u64)
    }
}
