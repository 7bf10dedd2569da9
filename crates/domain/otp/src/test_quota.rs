use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use std::time::Duration;

/// What the test keys of one project may leave behind: a quota, since nothing they do costs money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestQuota {
    /// How many records of each kind are kept: the newest.
    pub kept: u32,
    /// How long a place taken by a send counts, and a request may hold its `Idempotency-Key`.
    pub in_use: Duration,
}

impl TestQuota {
    /// Places and first answers older than this are of no more use to a send under way.
    pub fn unused_since(&self, now: Timestamp) -> Timestamp {
        now - self.in_use
    }
}

/// Keeps what test keys leave behind within their quota, so that they cannot fill a disk.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TestQuotaStore: Send + Sync {
    /// Of each project, drops test-mode records beyond the newest `quota.kept` of their kind, the
    /// oldest first, and gives the number of those that had to go.
    ///
    /// - OTP requests, with their attempts and messages: those that have expired at `now`. One
    ///   that has not MUST stay, however many there are.
    /// - Places of sends and first answers to an `Idempotency-Key`: those no longer in use.
    /// - Sessions by their start, identities (with their sessions) by their last verification,
    ///   events that are still to be told.
    ///
    /// Counts of wrong guesses mean nothing in test mode; they all go and are not counted. Live
    /// records MUST stay. Whoever calls at the same time drops nothing twice, and no more than one
    /// call alone would. No step of it holds up other work for long, or reads another project's
    /// rows.
    async fn trim(&self, quota: TestQuota, now: Timestamp) -> Result<u64, StoreError>;
}
