use async_trait::async_trait;
use dwar_kernel::{BlindIndex, ProjectId, ProjectMode, RecorderId, Refusal, StoreError, Timestamp};
use std::cmp::Reverse;
use std::time::Duration;

/// Count of sends that were refused for one reason within one minute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedSends {
    pub project_mode: ProjectMode,
    /// Blind index of the phone; `None` if unknown, or not kept because there were too many phones.
    pub phone: Option<BlindIndex>,
    pub reason: Refusal,
    pub minute: Timestamp,
    pub count: u32,
}

impl RefusedSends {
    /// How long the counts of a minute are kept: one day.
    pub const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

    /// Adds up the counts of several tallies: one count per mode, reason, phone and minute, newest first.
    #[must_use]
    pub fn added_up(mut counts: Vec<Self>) -> Vec<Self> {
        counts.sort_by_key(|it| {
            (Reverse(it.minute), it.project_mode.mode, it.reason, it.phone.map(|p| p.0))
        });
        counts.dedup_by(|next, kept| {
            let same = |it: &Self| (it.project_mode, it.phone, it.reason, it.minute);
            let equal = same(next) == same(kept);
            if equal {
                kept.count = kept.count.saturating_add(next.count);
            }
            equal
        });
        counts
    }

    /// Adds up counts over all phones, so that none is named.
    #[must_use]
    pub fn without_phones(mut counts: Vec<Self>) -> Vec<Self> {
        counts.iter_mut().for_each(|it| it.phone = None);
        Self::added_up(counts)
    }

    /// Adds up counts over all minutes; each result carries the newest minute.
    #[must_use]
    pub fn whenever(mut counts: Vec<Self>) -> Vec<Self> {
        let newest = counts.iter().map(|it| it.minute).max().unwrap_or_default();
        counts.iter_mut().for_each(|it| it.minute = newest);
        Self::added_up(counts)
    }

    /// Start of the UTC minute that contains `at`.
    pub fn minute_of(at: Timestamp) -> Timestamp {
        let millis = at.timestamp_millis();
        Timestamp::from_timestamp_millis(millis - millis.rem_euclid(60_000)).unwrap_or(at)
    }
}

/// Keeps the counts of refused sends for a day.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait RefusalStore: Send + Sync {
    /// Replaces the counts that `recorder` stored for each minute by its counts so far. Repetition changes
    /// nothing, and a count never goes down. Counts of several tallies add up. `counts` has no two entries
    /// with the same key.
    async fn count(
        &self,
        recorder: RecorderId,
        counts: Vec<RefusedSends>,
    ) -> Result<(), StoreError>;

    /// The newest `limit` counts of a phone, newest first.
    async fn of_phone(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<RefusedSends>, StoreError>;

    /// Refused sends of a project from `since` on and before `until`, added up over all phones, newest first;
    /// at most the newest `most` counts.
    async fn of_project(
        &self,
        project: ProjectId,
        since: Timestamp,
        until: Option<Timestamp>,
        most: u32,
    ) -> Result<Vec<RefusedSends>, StoreError>;

    /// Deletes the counts of minutes that began before `before`; returns the number of rows.
    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError>;
}
