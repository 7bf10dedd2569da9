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

/// A kind of record that test keys leave behind, each with a quota of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestRecord {
    /// A request to send a code, with its attempts and messages; its age is when it expires.
    Request,
    /// The first answer to an `Idempotency-Key`.
    FirstAnswer,
    Place,
    /// A session, by its start.
    Session,
    /// An identity, with its sessions, by its last verification.
    Identity,
    /// An event that is still to be told.
    Event,
}

impl TestRecord {
    /// Every kind, in the order in which they are dropped.
    pub const ALL: [Self; 6] =
        [Self::Request, Self::FirstAnswer, Self::Place, Self::Session, Self::Identity, Self::Event];
}

impl TestQuota {
    /// The latest age at which a record beyond the quota may go; `None` is at any age.
    pub fn goes_until(&self, record: TestRecord, now: Timestamp) -> Option<Timestamp> {
        match record {
            TestRecord::Request => Some(now),
            TestRecord::FirstAnswer | TestRecord::Place => Some(now - self.in_use),
            TestRecord::Session | TestRecord::Identity | TestRecord::Event => None,
        }
    }
}

/// Keeps what test keys leave behind within their quota, so that they cannot fill a disk.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TestQuotaStore: Send + Sync {
    /// Of each project, drops test-mode records beyond the newest `quota.kept` of their
    /// [`TestRecord`] kind, the oldest first (of equals any), if [`TestQuota::goes_until`] allows
    /// it, and gives how many were dropped. A code that has not expired MUST stay, however many
    /// there are.
    ///
    /// Counts of wrong guesses mean nothing in test mode; they are all dropped, and not counted.
    /// Live records MUST stay. Concurrent calls drop nothing twice, and no more than one call alone
    /// would. No step holds up other work for long, or reads another project's rows.
    async fn trim(&self, quota: TestQuota, now: Timestamp) -> Result<u64, StoreError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_send_may_still_need_stays() {
        let now = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        let quota = TestQuota { kept: 1, in_use: Duration::from_secs(60) };
        let goes = TestRecord::ALL.map(|record| quota.goes_until(record, now));
        let unused = Some(now - Duration::from_secs(60));
        assert_eq!(goes, [Some(now), unused, unused, None, None, None]);
    }
}
