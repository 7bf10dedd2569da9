use crate::guard::{LevelChange, StoredLevel};
use crate::{Admission, Grant, LeaseRequest, Quota, RequestKey, SendKey, SendLog};
use async_trait::async_trait;
use dwar_kernel::{OtpId, ProjectId, StoreError, Timestamp};

/// Counts requests per API key and request window (docs/contract.md, Limits).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait RequestLimiter: Send + Sync {
    /// Judges one request, and counts it if it is admitted, as one atomic step.
    ///
    /// In any window exactly `quota.limit` requests MUST be admitted, no matter how many are concurrent. A
    /// refusal is not counted.
    async fn hit(
        &self,
        key: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError>;

    /// Drops windows that are empty at `now`, so that idle keys cost nothing.
    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError>;

    /// Renews and returns leased shares of a quota; called once a second. Does nothing if no shares are
    /// leased.
    async fn renew_leases(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }

    /// Gives back all leased places that are not in use; called when this process stops.
    async fn leave(&self, _now: Timestamp) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Keeps the shares that instances hold of the quotas of API keys (docs/contract.md, Limits).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait QuotaLeases: Send + Sync {
    /// Exchanges shares by [`crate::QuotaShares::exchange`], atomically per key; returns an answer for each request,
    /// in the same order.
    ///
    /// Concurrent calls MUST have the same result as calls one after the other. The rule gets the time of
    /// the store's clock as `now`, since the clocks of callers may differ. This time MUST NOT be earlier than the
    /// call. A request whose call
    /// failed may have been granted.
    async fn exchange(
        &self,
        requests: Vec<(RequestKey, LeaseRequest)>,
    ) -> Result<Vec<Option<Grant>>, StoreError>;

    /// Deletes shares that no longer count, by the clock of the store; returns the number of keys.
    async fn sweep_shares(&self) -> Result<u64, StoreError>;
}

/// Counts codes sent per phone; the count outlives a restart (docs/contract.md, Limits).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait SendLimiter: Send + Sync {
    /// Reads the sends and wrong guesses that decide whether the next send of a phone is admitted.
    async fn log(&self, key: SendKey) -> Result<SendLog, StoreError>;

    /// Gives the place of `send` back, because every provider refused the send. The send still counts as one
    /// that reached a provider. Repetition is harmless.
    async fn forgive(&self, key: SendKey, send: OtpId) -> Result<(), StoreError>;

    /// Deletes places taken before `before`, and returns how many. The age of a place is the time in the id of
    /// its send. Callers subtract the longest window in force from the present time to get `before`.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}

/// Keeps the levels of the guard, which all instances share (docs/guard.md).
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait GuardStore: Send + Sync {
    /// Applies each change by [`LevelChange::apply`] and returns the levels that the changes leave, in their order.
    ///
    /// Concurrent calls MUST have the same result as calls one after the other. The changes of one call MUST be
    /// kept together or not at all.
    async fn change_levels(
        &self,
        changes: Vec<LevelChange>,
        now: Timestamp,
    ) -> Result<Vec<StoredLevel>, StoreError>;

    /// The levels of these projects that were changed at `since` or later, in any order.
    async fn changed_levels(
        &self,
        projects: Vec<ProjectId>,
        since: Timestamp,
    ) -> Result<Vec<StoredLevel>, StoreError>;

    /// The verified live requests of a project in the days that began from `from` on and before `until`.
    async fn verified(
        &self,
        project: ProjectId,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Deletes levels that have not changed for [`GuardLevel::KNOWN_AFTER`](crate::guard::GuardLevel::KNOWN_AFTER)
    /// and were full then; returns the number of levels.
    async fn sweep_levels(&self, now: Timestamp) -> Result<u64, StoreError>;
}
