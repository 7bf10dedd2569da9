use async_trait::async_trait;
use dwar_kernel::{BlindIndex, ProjectId, ProjectMode, Refusal, StoreError, TallyId, Timestamp};
use std::cmp::Reverse;
use std::time::Duration;

/// Sends that were refused for one reason within one minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedSends {
    pub world: ProjectMode,
    /// Whose phone; `None` if that is not known, or was not kept because there were too many.
    pub phone: Option<BlindIndex>,
    pub reason: Refusal,
    pub minute: Timestamp,
    pub count: u32,
}

impl RefusedSends {
    /// How long they are kept.
    pub const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

    /// What several tallies counted, added up: newest first, one count of each reason and minute.
    #[must_use]
    pub fn added_up(mut counts: Vec<Self>) -> Vec<Self> {
        counts.sort_by_key(|it| {
            (Reverse(it.minute), it.world.mode, it.reason, it.phone.map(|p| p.0))
        });
        counts.dedup_by(|next, kept| {
            let same = |it: &Self| (it.world, it.phone, it.reason, it.minute);
            let equal = same(next) == same(kept);
            if equal {
                kept.count = kept.count.saturating_add(next.count);
            }
            equal
        });
        counts
    }

    /// What was refused, added up over all phones.
    #[must_use]
    pub fn without_phones(mut counts: Vec<Self>) -> Vec<Self> {
        counts.iter_mut().for_each(|it| it.phone = None);
        Self::added_up(counts)
    }

    /// What was refused, added up over all minutes: each count has the newest of them.
    #[must_use]
    pub fn whenever(mut counts: Vec<Self>) -> Vec<Self> {
        let newest = counts.iter().map(|it| it.minute).max().unwrap_or_default();
        counts.iter_mut().for_each(|it| it.minute = newest);
        Self::added_up(counts)
    }

    /// The minute that contains an instant.
    pub fn minute_of(at: Timestamp) -> Timestamp {
        let millis = at.timestamp_millis();
        Timestamp::from_timestamp_millis(millis - millis.rem_euclid(60_000)).unwrap_or(at)
    }
}

/// Keeps the counts of refused sends for a day.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait RefusalStore: Send + Sync {
    /// Replaces what `tally` had counted in each minute with what it has counted so far. A
    /// repetition changes nothing, and a count never goes down. Counts of several tallies add up. No
    /// two of `counts` are about the same.
    async fn count(&self, tally: TallyId, counts: Vec<RefusedSends>) -> Result<(), StoreError>;

    /// The newest `limit` counts of a phone, newest first.
    async fn of_phone(
        &self,
        world: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<RefusedSends>, StoreError>;

    /// What was refused in a project in minutes from `since` on, with `until` before it, for any phone,
    /// newest first and added up over all phones; the newest `most`
    /// counts at most.
    async fn of_project(
        &self,
        project: ProjectId,
        since: Timestamp,
        until: Option<Timestamp>,
        most: u32,
    ) -> Result<Vec<RefusedSends>, StoreError>;

    /// Drops the counts of minutes that began before `before`; gives the number of rows.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}
