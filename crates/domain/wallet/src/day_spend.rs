use dwar_kernel::{Paise, Timestamp, india_midnight};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// What a project has spent on one day in Indian time, for its limit ([`crate::Wallet::daily_spend`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DaySpend {
    /// Midnight in India; the Unix epoch before the first send.
    pub since: Timestamp,
    /// The sum of the day's holds, without what was released of them. A refund does not lower it.
    pub spent: Paise,
    /// The highest of [`DaySpend::STEPS`] that was told on this day; 0 for none.
    pub told: u8,
    /// The limit that `told` is a part of: a changed limit is told anew.
    pub told_of: Paise,
}

impl Default for DaySpend {
    fn default() -> Self {
        Self::NONE
    }
}

impl DaySpend {
    /// Of a project without any send.
    pub const NONE: Self =
        Self { since: Timestamp::UNIX_EPOCH, spent: Paise::ZERO, told: 0, told_of: Paise::ZERO };
    /// The parts of the limit, in per cent, that are told when they are reached.
    pub const STEPS: [u8; 3] = [50, 80, 100];

    /// The spend of the day of `now`, which is zero on a new day. If the stored day is the one after,
    /// another instance with a clock slightly ahead has begun it, and it is kept.
    #[must_use]
    pub fn on(self, now: Timestamp) -> Self {
        let today = india_midnight(now);
        match self.since == today || self.since == today + DAY {
            true => self,
            false => Self { since: today, ..Self::default() },
        }
    }

    /// Adds the hold of a send, if the sum stays within the limit; returns whether it does.
    pub(crate) fn add(&mut self, amount: Paise, limit: Option<Paise>) -> bool {
        let after = Paise(self.spent.0.saturating_add(amount.0));
        let fits = limit.is_none_or(|limit| after <= limit);
        if fits {
            self.spent = after;
        }
        fits
    }

    /// Lowers the sum by what was released of a hold of this day.
    pub(crate) fn release(&mut self, rest: Paise, held_since: Timestamp) {
        if india_midnight(held_since) == self.since {
            self.spent = Paise((self.spent.0 - rest.0).max(0));
        }
    }

    /// The steps of the limit that are reached and were not told yet; from now on they count as told. The
    /// limit is used up when it refuses a send, even if a smaller amount is left.
    pub(crate) fn tell(&mut self, limit: Paise, is_refused: bool) -> Vec<u8> {
        let told = if self.told_of == limit { self.told } else { 0 };
        let (spent, limit_paise) = (i128::from(self.spent.0), i128::from(limit.0));
        let is_reached =
            |step: u8| is_refused && step == 100 || spent * 100 >= limit_paise * i128::from(step);
        let new = Self::STEPS.into_iter().filter(|step| *step > told && is_reached(*step));
        let new: Vec<u8> = new.collect();
        if let Some(last) = new.last() {
            (self.told, self.told_of) = (*last, limit);
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_kernel::read_instant;

    fn at(text: &str) -> Timestamp {
        read_instant(text).unwrap()
    }

    fn spent(paise: i64, day: &str) -> DaySpend {
        DaySpend { spent: Paise(paise), ..DaySpend::default().on(at(day)) }
    }

    #[test]
    fn a_day_begins_at_midnight_in_india() {
        let last = at("2026-11-27T18:29:59.999Z");
        assert_eq!(india_midnight(last), at("2026-11-27T00:00:00+05:30"));
        let first = at("2026-11-27T18:30:00Z");
        assert_eq!(india_midnight(first), first);
        assert_eq!(india_midnight(at("1969-12-31T18:29:59Z")), at("1969-12-30T18:30:00Z"));
    }

    #[test]
    fn a_new_day_begins_with_nothing_spent() {
        let day = spent(70, "2026-11-27T00:00:00+05:30");
        assert_eq!(day.on(at("2026-11-27T23:59:59.999+05:30")), day);
        let next = day.on(at("2026-11-28T00:00:00+05:30"));
        assert_eq!((next.spent, next.since), (Paise::ZERO, at("2026-11-28T00:00:00+05:30")));
        let behind = day.on(at("2026-11-26T23:59:59+05:30"));
        assert_eq!(
            behind, day,
            "an instance whose clock is behind counts for the day that has begun"
        );
        let wrong = day.on(at("2026-11-25T23:59:59+05:30"));
        assert_eq!(wrong.spent, Paise::ZERO, "the clock that began this day was wrong");
    }

    #[test]
    fn a_limit_is_exact_and_zero_allows_nothing() {
        let mut day = DaySpend::default();
        assert!(day.add(Paise(60), Some(Paise(100))));
        assert!(!day.add(Paise(41), Some(Paise(100))));
        assert!(day.add(Paise(40), Some(Paise(100))));
        assert!(!day.add(Paise(1), Some(Paise(100))));
        assert!(day.add(Paise(1), None));
        assert_eq!(day.spent, Paise(101));
        assert!(!DaySpend::default().add(Paise(1), Some(Paise::ZERO)));
    }

    #[test]
    fn only_holds_of_the_day_lower_it() {
        let mut day = spent(70, "2026-11-27T00:00:00+05:30");
        day.release(Paise(20), at("2026-11-26T23:59:59.999+05:30"));
        assert_eq!(day.spent, Paise(70));
        day.release(Paise(20), at("2026-11-27T00:00:00+05:30"));
        assert_eq!(day.spent, Paise(50));
    }

    #[test]
    fn each_step_of_a_limit_is_told_once() {
        let mut day = DaySpend::default();
        let mut told = |spent, limit, is_refused| {
            day.spent = Paise(spent);
            day.tell(Paise(limit), is_refused)
        };
        let none: [u8; 0] = [];
        assert_eq!(told(49, 100, false), none);
        assert_eq!(told(50, 100, false), [50]);
        assert_eq!(told(40, 100, false), none);
        assert_eq!(told(79, 100, false), none, "it was released and spent again");
        assert_eq!(told(90, 100, true), [80, 100], "what is left does not cover a send");
        assert_eq!(told(100, 100, true), none);
        assert_eq!(told(100, 200, false), [50], "the limit was raised");
        assert_eq!(told(100, 90, true), [50, 80, 100], "it was lowered");
        assert_eq!(DaySpend::default().tell(Paise::ZERO, true), [50, 80, 100]);
    }
}
