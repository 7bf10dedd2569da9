use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{GuessPolicy, OtpId, StoreError, Timestamp};
use dwar_ratelimit::{SendAdmission, SendKey, SendLimiter, SendLog, SendQuota, SendSlot};

impl State {
    fn send_log(&self, key: &SendKey) -> SendLog {
        let taken = self.places.iter().filter(|(taken, ..)| taken == key);
        let budget = self.budgets.get(&(key.project, key.mode, key.phone));
        SendLog::new(taken.map(|(.., slot)| *slot), budget.copied().unwrap_or_default())
    }
}

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
        let state = &mut *self.step("SendLimiter::admit").await?;
        let admission = state.send_log(&key).admit(&quota, &guesses, now);
        if admission.counted.admitted {
            state.places.push((key, send, SendSlot { at: now, forgiven: false }));
        }
        Ok(admission)
    }

    async fn log(&self, key: SendKey) -> Result<SendLog, StoreError> {
        let state = &*self.step("SendLimiter::log").await?;
        Ok(state.send_log(&key))
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        let state = &mut *self.step("SendLimiter::forgive").await?;
        let own = state.places.iter_mut().filter(|(k, s, _)| (*k, *s) == (key, send));
        own.for_each(|(.., slot)| slot.forgiven = true);
        Ok(())
    }

    async fn withdraw(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        let state = &mut *self.step("SendLimiter::withdraw").await?;
        state.places.retain(|(k, s, _)| (*k, *s) != (key, send));
        Ok(())
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("SendLimiter::sweep").await?;
        Ok(state.places.extract_if(.., |(.., slot)| slot.at < before).count() as u64)
    }
}
