use crate::{Admission, Quota, RequestKey, SendAdmission, SendKey, SendLog, SendQuota};
use async_trait::async_trait;
use dwar_kernel::{GuessPolicy, OtpId, StoreError, Timestamp};

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
}

/// Counts codes sent per phone; the count outlives a restart (docs/contract.md, Limits).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SendLimiter: Send + Sync {
    /// Judges a send by [`crate::SendLog::admit`] and, if admitted, records it, as one atomic step.
    /// The log is that of the phone's sends and of the wrong guesses counted for it.
    ///
    /// However many come at once, at most as many as both bounds of `quota` allow MUST be admitted
    /// in any window, and as many as that MUST be. A refusal is not recorded. Deleting an identity
    /// MUST NOT take a send off the record.
    async fn admit(
        &self,
        key: SendKey,
        send: OtpId,
        quota: SendQuota,
        guesses: GuessPolicy,
        now: Timestamp,
    ) -> Result<SendAdmission, StoreError>;

    /// What the next send of a phone is judged by; changes nothing.
    async fn log(&self, key: SendKey) -> Result<SendLog, StoreError>;

    /// Gives back the place of `send`, since every provider refused it; it still counts as one
    /// that reached a provider. Repetition is harmless.
    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError>;

    /// Takes `send` off the record, since no provider was called; repetition is harmless.
    async fn withdraw(&self, key: SendKey, send: OtpId) -> Result<(), StoreError>;

    /// Drops places taken before `before`: the longest window in force ago. Gives their number.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}
