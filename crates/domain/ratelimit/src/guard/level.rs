use dwar_kernel::{Digest, GuardSubjectKind, ProjectId, Timestamp, india_midnight};
use std::time::Duration;

/// One token. Levels are in millionths: in thousandths, the refill of a second would round to nothing.
pub const TOKEN: i64 = 1_000_000;

const DAY_MS: i128 = 86_400_000;

/// The last seven days in India that are over at `now`: from the beginning of the first to the end of the last.
pub fn settled_week(now: Timestamp) -> (Timestamp, Timestamp) {
    let today = india_midnight(now);
    (today - Duration::from_secs(7 * 86_400), today)
}

/// An address, a series or a project, by a keyed digest that names nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GuardSubject {
    pub kind: GuardSubjectKind,
    pub digest: Digest,
}

/// The tokens of a subject at an instant, in millionths. It refills by its capacity within a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuardLevel {
    /// May be below zero: what instances admitted before they knew of each other is a debt.
    pub level: i64,
    pub at: Timestamp,
    pub capacity: i64,
}

impl GuardLevel {
    /// After this time every instance has read a level.
    pub const KNOWN_AFTER: Duration = Duration::from_secs(60);

    /// Capacity of an address: 50 tokens.
    pub const ADDRESS_CAPACITY: i64 = 50 * TOKEN;
    /// Capacity of a series: 20 tokens.
    pub const SERIES_CAPACITY: i64 = 20 * TOKEN;

    /// The capacity of a project with this many verified logins in the last seven settled days: a hundredth of
    /// them, at least 200.
    ///
    /// Sends that nobody verified do not count, or a flood that drips slowly would raise its own bound.
    pub fn project_capacity(verified: u64) -> i64 {
        let tokens = (verified / 100).clamp(200, 10_000_000);
        i64::try_from(tokens).unwrap_or(i64::MAX / TOKEN) * TOKEN
    }

    pub const fn full(capacity: i64, at: Timestamp) -> Self {
        Self { level: capacity, at, capacity }
    }

    /// The tokens at `now`. A clock that was set back refills nothing.
    pub fn tokens(&self, now: Timestamp) -> i64 {
        let elapsed = i128::from((now - self.at).num_milliseconds().max(0));
        let refill = i128::from(self.capacity) * elapsed / DAY_MS;
        let level = (i128::from(self.level) + refill).min(i128::from(self.capacity));
        i64::try_from(level).unwrap_or(i64::MIN)
    }

    /// The level after `by` tokens were given or, below zero, taken.
    #[must_use]
    pub fn changed(&self, by: i64, capacity: i64, now: Timestamp) -> Self {
        let level = self.tokens(now).saturating_add(by).min(capacity);
        Self { level, at: self.at.max(now), capacity }
    }

    /// Whether a send has to bring a proof.
    pub fn is_exhausted(&self, now: Timestamp) -> bool {
        self.tokens(now) < TOKEN
    }

    /// Whether nothing is missing at `now`, so that nothing has to be kept.
    pub fn is_full(&self, now: Timestamp) -> bool {
        self.tokens(now) >= self.capacity
    }
}

/// What one instance took from a subject and gave to it since it last said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelChange {
    pub project: ProjectId,
    pub subject: GuardSubject,
    pub by: i64,
    pub capacity: i64,
}

/// A level on record. A subject without one is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredLevel {
    pub project: ProjectId,
    pub subject: GuardSubject,
    pub level: GuardLevel,
}

impl LevelChange {
    /// The level that the change leaves, where `before` is on record.
    pub fn apply(&self, before: Option<GuardLevel>, now: Timestamp) -> StoredLevel {
        let before = before.unwrap_or(GuardLevel::full(self.capacity, now));
        let level = before.changed(self.by, self.capacity, now);
        StoredLevel { project: self.project, subject: self.subject, level }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: i64 = GuardLevel::SERIES_CAPACITY;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000, 0).unwrap() + Duration::from_secs(seconds)
    }

    #[test]
    fn a_level_refills_by_its_capacity_in_a_day_and_never_above_it() {
        let empty = GuardLevel { level: 0, at: at(0), capacity: CAPACITY };
        assert_eq!(empty.tokens(at(0)), 0);
        // Twenty tokens in a day are one in 72 minutes.
        assert_eq!(empty.tokens(at(72 * 60)), TOKEN);
        assert!(empty.is_exhausted(at(72 * 60 - 1)) && !empty.is_exhausted(at(72 * 60)));
        assert_eq!(empty.tokens(at(86_400 * 3)), CAPACITY);
        assert!(!empty.is_full(at(86_399)) && empty.is_full(at(86_400)));
        // A debt takes longer.
        let debt = GuardLevel { level: -CAPACITY, ..empty };
        assert_eq!(debt.tokens(at(86_400)), 0);
        // A clock that was set back takes nothing away and gives nothing.
        assert_eq!(GuardLevel { at: at(60), ..empty }.tokens(at(0)), 0);
    }

    #[test]
    fn written_every_second_a_level_loses_next_to_nothing_of_its_refill() {
        let mut level = GuardLevel { level: 0, at: at(0), capacity: CAPACITY };
        for second in 1..=86_400 {
            level = level.changed(0, CAPACITY, at(second));
        }
        assert!((CAPACITY * 99 / 100..=CAPACITY).contains(&level.level), "{level:?}");
    }

    #[test]
    fn a_change_is_applied_to_what_is_on_record_and_to_a_full_level_without_a_record() {
        let subject = GuardSubject { kind: GuardSubjectKind::Series, digest: Digest([7; 32]) };
        let project = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let change = LevelChange { project, subject, by: -3 * TOKEN, capacity: CAPACITY };
        let first = change.apply(None, at(0)).level;
        assert_eq!(first, GuardLevel { level: 17 * TOKEN, at: at(0), capacity: CAPACITY });
        let second = change.apply(Some(first), at(72 * 60)).level;
        assert_eq!((second.level, second.at), (15 * TOKEN, at(72 * 60)));
        // What is given beyond the capacity is lost.
        let gift = LevelChange { by: 50 * TOKEN, ..change };
        assert_eq!(gift.apply(Some(second), at(72 * 60)).level.level, CAPACITY);
        // A capacity that shrank caps the level too.
        let smaller = LevelChange { by: 0, capacity: 5 * TOKEN, ..change };
        assert_eq!(smaller.apply(Some(second), at(72 * 60)).level.level, 5 * TOKEN);
    }

    #[test]
    fn the_capacity_of_a_project_is_a_hundredth_of_its_verified_logins() {
        let capacities =
            [0, 20_099, 20_100, 70_000].map(|it| GuardLevel::project_capacity(it) / TOKEN);
        assert_eq!(capacities, [200, 200, 201, 700]);
        assert_eq!(GuardLevel::project_capacity(u64::MAX), 10_000_000 * TOKEN);
    }

    #[test]
    fn a_week_ends_with_the_last_midnight_in_india() {
        let at = |text| dwar_kernel::read_instant(text).unwrap();
        let week = (at("2026-11-19T18:30:00Z"), at("2026-11-26T18:30:00Z"));
        for now in ["2026-11-26T18:30:00Z", "2026-11-27T08:00:00Z", "2026-11-27T18:29:59.999Z"] {
            assert_eq!(settled_week(at(now)), week, "{now}");
        }
    }
}
