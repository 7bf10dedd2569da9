use crate::{Admission, Grant, Quota, RequestKey, SendKey, SendLog, Wish};
use async_trait::async_trait;
use dwar_kernel::{OtpId, StoreError, Timestamp};

/// Counts requests per API key (docs/contract.md, Limits).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait RequestLimiter: Send + Sync {
    /// Judges and, if admitted, counts one request, as one atomic step.
    ///
    /// However many come at once, at most `quota.limit` MUST be admitted in any window, and as
    /// many as that MUST be. A refusal is not counted.
    async fn hit(
        &self,
        key: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError>;

    /// Forgets windows that are empty at `now`, so that idle keys cost nothing.
    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError>;

    /// Renews and gives back what is held of a quota that several instances share, once a second;
    /// does nothing where nothing is held.
    async fn tend(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    /// Gives back everything that is held of quotas and not in use, because this process stops.
    async fn leave(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Keeps the shares that instances have of the quotas of API keys (docs/contract.md, Limits).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait QuotaLeases: Send + Sync {
    /// Exchanges shares by [`crate::Shares::exchange`], each key's as one atomic step; gives an
    /// answer for each wish, in their order.
    ///
    /// However many calls come at once, the grants MUST be those that the function gives for one
    /// after the other. `now` is by the clock of the store, not of the callers: their clocks may
    /// differ, and it MUST NOT be earlier than the wish was made. A wish that failed may have been
    /// granted.
    async fn exchange(
        &self,
        wishes: Vec<(RequestKey, Wish)>,
    ) -> Result<Vec<Option<Grant>>, StoreError>;

    /// Drops shares that no longer count, by the clock of the store. Gives the number of keys.
    async fn sweep_shares(&self) -> Result<u64, StoreError>;
}

/// Counts codes sent per phone; the count outlives a restart (docs/contract.md, Limits).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SendLimiter: Send + Sync {
    /// What the next send of a phone is judged by; changes nothing.
    async fn log(&self, key: SendKey) -> Result<SendLog, StoreError>;

    /// Gives back the place of `send`, since every provider refused it; it still counts as one
    /// that reached a provider. Repetition is harmless.
    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError>;

    /// Drops places taken before `before`, by the ids of their sends; that is the longest window in
    /// force ago. Gives their number.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}
