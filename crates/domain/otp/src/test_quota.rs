use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use std::time::Duration;

/// How many records the test keys of one project may leave behind. A quota is needed since test keys cost
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestQuota {
    /// The newest records that are kept, per kind.
    pub kept: u32,
    /// How long a record may still be in use: a place taken by a send counts for this long, and a request may
    /// hold its `Idempotency-Key` for this long.
    pub in_use: Duration,
}

/// A kind of record that test keys leave behind, each with its own quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestRecord {
    /// A request to send a code, with its attempts and messages; sorted by expiry.
    Request,
    FirstAnswer,
    Place,
    /// A session; sorted by its start.
    Session,
    /// An identity with its sessions; sorted by last verification.
    Identity,
    /// An event that is still to be delivered.
    Event,
}

impl TestRecord {
    /// Every kind of record, in the order of deletion.
    pub const ALL: [Self; 6] =
        [Self::Request, Self::FirstAnswer, Self::Place, Self::Session, Self::Identity, Self::Event];
}

impl TestQuota {
    /// Records beyond the quota up to this time may be deleted; `None` means all of them.
    pub fn goes_until(&self, record: TestRecord, now: Timestamp) -> Option<Timestamp> {
        match record {
            TestRecord::Request => Some(now),
            TestRecord::FirstAnswer | TestRecord::Place => Some(now - self.in_use),
            TestRecord::Session | TestRecord::Identity | TestRecord::Event => None,
        }
    }
}

/// Keeps the records of test keys within their quota, so that they cannot fill the disk.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait TestQuotaStore: Send + Sync {
    /// Deletes test-mode records of each project beyond the newest `quota.kept` of each
    /// [`TestRecord`] kind, oldest first (equals in any order), as far as [`TestQuota::goes_until`]
    /// allows; returns how many. Codes that have not expired MUST stay, no matter how many there
    /// are.
    ///
    /// Guess budgets have no meaning in test mode; all of them are deleted, and not counted in the result.
    /// Live records MUST stay. Concurrent calls together delete no more than one call alone. No step blocks
    /// other work for long, or reads another project's rows.
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
