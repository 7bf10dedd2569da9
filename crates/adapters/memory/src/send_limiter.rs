use crate::store::{MemoryStore, drop_old};
use async_trait::async_trait;
use dwar_kernel::{GuessPolicy, OtpId, StoreError, Timestamp};
use dwar_ratelimit::{SendAdmission, SendKey, SendLimiter, SendLog, SendQuota, SendSlot};

#[async_trait]
impl SendLimiter for MemoryStore {
    async fn admit(
        &self,
        key: SendKey,
        send: OtpId,
        quota: SendQuota,
        guesses: GuessPolicy,
        now: Timestamp,
    ) -> Result<SendAdmission, StoreError> {
        self.step("SendLimiter::admit", |state| {
            let taken = state.places.iter().filter(|(taken, ..)| *taken == key);
            let line = (key.project, key.mode, key.phone);
            let budget = state.budgets.get(&line).copied().unwrap_or_default();
            let mut log = SendLog::new(taken.map(|(.., slot)| *slot), budget);
            let admission = log.admit(&quota, &guesses, now);
            if admission.counted.admitted {
                state.places.push((key, send, SendSlot { at: now, forgiven: false }));
            }
            admission
        })
        .await
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.step("SendLimiter::forgive", |state| {
            let own = state.places.iter_mut().filter(|(k, s, _)| (*k, *s) == (key, send));
            own.for_each(|(.., slot)| slot.forgiven = true);
        })
        .await
    }

    async fn withdraw(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.step("SendLimiter::withdraw", |state| {
            state.places.retain(|(k, s, _)| (*k, *s) != (key, send))
        })
        .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.step("SendLimiter::sweep", |state| {
            drop_old(&mut state.places, |(.., slot)| slot.at < before)
        })
        .await
    }
}
