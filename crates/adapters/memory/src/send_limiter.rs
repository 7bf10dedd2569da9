use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{OtpId, StoreError, Timestamp};
use dwar_ratelimit::{SendKey, SendLimiter, SendLog, SendSlot};

impl State {
    /// The log that decides whether a send is admitted: the other sends of its phone, and the wrong
    /// guesses.
    pub(crate) fn send_log(&self, key: &SendKey, send: Option<OtpId>) -> SendLog {
        let others = |(taken, other, _): &&_| taken == key && Some(*other) != send;
        let taken = self.places.iter().filter(others);
        let budget = self.budgets.get(&(key.project_mode, key.phone));
        SendLog::new(taken.map(|(.., slot)| *slot), budget.copied().unwrap_or_default())
    }

    pub(crate) fn take_place(&mut self, key: SendKey, send: OtpId, now: Timestamp) {
        self.places.push((key, send, SendSlot { at: now, forgiven: false }));
    }

    pub(crate) fn forgive(&mut self, key: SendKey, send: OtpId) {
        let own = self.places.iter_mut().filter(|(k, s, _)| (*k, *s) == (key, send));
        own.for_each(|(.., slot)| slot.forgiven = true);
    }
}

#[async_trait]
impl SendLimiter for MemoryStore {
    async fn log(&self, key: SendKey) -> Result<SendLog, StoreError> {
        let state = &*self.step("SendLimiter::log").await?;
        Ok(state.send_log(&key, None))
    }

    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError> {
        self.step("SendLimiter::forgive").await?.forgive(key, send);
        Ok(())
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("SendLimiter::sweep").await?;
        Ok(state.places.extract_if(.., |(.., slot)| slot.at < before).count() as u64)
    }
}
