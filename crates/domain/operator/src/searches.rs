use crate::AuditEntry;
use dwar_kernel::{BlindIndex, SearcherId, Timestamp};
use std::time::Duration;

/// How many numbers may be searched for within a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchQuota {
    pub numbers: u32,
    pub window: Duration,
}

/// A search for a phone number by a caller who sees numbers masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhoneSearch {
    pub searcher: SearcherId,
    /// Blind index of the number in one project and mode.
    pub number: BlindIndex,
    pub entry: AuditEntry,
}

/// The numbers that one searcher searched for in the last day, with the times.
///
/// A masked number hides four digits, and the answer to a search shows whether an identity has that number:
/// trying all ten thousand reveals it. At 200 a day that takes 25 days on average and leaves an audit entry
/// for each search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searches(pub Vec<(BlindIndex, Timestamp)>);

/// Whether a search is admitted, and how many more are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchAdmission {
    /// The number was searched for within the hour: the search reveals nothing new, and does not count.
    Repeated(SearchAllowance),
    Counted(SearchAllowance),
    /// Too many numbers were searched for; at `until` one more is admitted.
    Refused {
        /// The used-up quota that frees a place last.
        quota: SearchQuota,
        until: Timestamp,
    },
}

/// How many more numbers may be searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchAllowance {
    pub quota: SearchQuota,
    pub remaining: u32,
    pub resets_at: Timestamp,
}

impl SearchQuota {
    /// The windows slide: the limits hold in any hour and in any day.
    pub const ALL: [Self; 2] = [
        Self { numbers: 60, window: Duration::from_secs(3_600) },
        Self { numbers: 200, window: Duration::from_secs(86_400) },
    ];
    /// How long a number may be searched for again without counting.
    pub const REPEATED: Duration = Self::ALL[0].window;
    /// Age from which a search no longer counts: one day.
    pub const LONGEST: Duration = Self::ALL[1].window;
}

impl Searches {
    /// Judges a search, and counts it if it is admitted and new. A search stops counting at the end of its
    /// window, to the millisecond.
    pub fn admit(&mut self, number: BlindIndex, now: Timestamp) -> SearchAdmission {
        self.0.retain(|(_, at)| now < *at + SearchQuota::LONGEST);
        let repeated = |(known, at): &(BlindIndex, Timestamp)| {
            *known == number && now < *at + SearchQuota::REPEATED
        };
        if self.0.iter().any(repeated) {
            return SearchAdmission::Repeated(self.allowance(now));
        }
        let left = SearchQuota::ALL.map(|quota| self.left(quota, now));
        let full = left.into_iter().filter(|left| left.remaining == 0);
        if let Some(SearchAllowance { quota, resets_at, .. }) = full.max_by_key(|it| it.resets_at) {
            return SearchAdmission::Refused { quota, until: resets_at };
        }
        self.0.push((number, now));
        SearchAdmission::Counted(self.allowance(now))
    }

    fn allowance(&self, now: Timestamp) -> SearchAllowance {
        let [hour, day] = SearchQuota::ALL.map(|quota| self.left(quota, now));
        if day.remaining < hour.remaining { day } else { hour }
    }

    fn left(&self, quota: SearchQuota, now: Timestamp) -> SearchAllowance {
        let ends = self.0.iter().map(|(_, at)| *at + quota.window).filter(|end| now < *end);
        let used = u32::try_from(ends.clone().count()).unwrap_or(u32::MAX);
        SearchAllowance {
            quota,
            remaining: quota.numbers.saturating_sub(used),
            resets_at: ends.min().unwrap_or(now),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000;
    const HOUR: i64 = 3_600 * SECOND;
    const DAY: i64 = 24 * HOUR;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_timestamp_millis(1_800_000_000_000 + ms).unwrap()
    }

    fn number(number: u32) -> BlindIndex {
        let mut index = [0; 32];
        index[..4].copy_from_slice(&number.to_be_bytes());
        BlindIndex(index)
    }

    fn counted(searches: &mut Searches, which: u32, ms: i64) -> u32 {
        match searches.admit(number(which), at(ms)) {
            SearchAdmission::Counted(allowance) => allowance.remaining,
            other => panic!("{which} at {ms}: {other:?}"),
        }
    }

    #[test]
    fn sixty_numbers_are_admitted_in_any_hour() {
        let mut searches = Searches::default();
        for which in 0..60 {
            assert_eq!(counted(&mut searches, which, i64::from(which) * SECOND), 59 - which);
        }
        let refused = searches.admit(number(60), at(HOUR - 1));
        let [quota, _] = SearchQuota::ALL;
        assert_eq!(refused, SearchAdmission::Refused { quota, until: at(HOUR) });
        assert_eq!(searches.0.len(), 60, "a refused one does not count");
        assert_eq!(counted(&mut searches, 60, HOUR), 0, "the first is over");
        let refused = searches.admit(number(61), at(HOUR + SECOND - 1));
        assert_eq!(refused, SearchAdmission::Refused { quota, until: at(HOUR + SECOND) });
    }

    #[test]
    fn two_hundred_numbers_are_admitted_in_any_day() {
        let mut searches = Searches::default();
        for which in 0..200 {
            counted(&mut searches, which, i64::from(which) * 2 * 60 * SECOND);
        }
        let [_, quota] = SearchQuota::ALL;
        let refused = searches.admit(number(200), at(DAY - 1));
        assert_eq!(refused, SearchAdmission::Refused { quota, until: at(DAY) });
        assert_eq!(counted(&mut searches, 200, DAY), 0);
        assert_eq!(searches.0.len(), 200);
    }

    #[test]
    fn a_number_counts_once_an_hour_also_where_no_other_is_admitted() {
        let mut searches = Searches::default();
        for which in 0..60 {
            counted(&mut searches, which, 0);
        }
        let again = searches.admit(number(7), at(HOUR - 1));
        let [quota, _] = SearchQuota::ALL;
        let allowance = SearchAllowance { quota, remaining: 0, resets_at: at(HOUR) };
        assert_eq!(again, SearchAdmission::Repeated(allowance));
        assert_eq!(searches.0.len(), 60);
        assert_eq!(counted(&mut searches, 7, HOUR), 59, "it counts anew");
        assert_eq!(searches.0.len(), 61);
    }
}
