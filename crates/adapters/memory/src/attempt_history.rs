use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{KeyMode, StoreError, Timestamp};
use dwar_otp::{AttemptHistory, DeliveryAttempt, Otp};
use std::cmp::Reverse;

#[async_trait]
impl AttemptHistory for MemoryStore {
    async fn newest_attempts(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<DeliveryAttempt>, StoreError> {
        let state = &*self.step("AttemptHistory::newest_attempts").await?;
        let live = |otp: &&Otp| otp.project_mode.mode == KeyMode::Live && since <= otp.created_at;
        let mut found: Vec<_> = state.otps.iter().filter(live).collect();
        found.sort_unstable_by_key(|otp| Reverse(otp.id));
        let attempts = found.into_iter().flat_map(|otp| otp.delivery.attempts.iter().rev());
        Ok(attempts.take(limit as usize).cloned().collect())
    }
}
