use dwar_kernel::{INDIA_AHEAD, Timestamp, words};
use std::time::Duration;

/// How long after its end a minute is counted for the last time. A code lives ten minutes, and a receipt
/// later than this cannot make a login.
pub const SETTLED_AFTER: Duration = Duration::from_secs(60 * MINUTE);
/// Ages at which a minute is counted again, for receipts, fallbacks and verifications. The present minute and
/// the two before it are counted in every round.
const RECOUNTS: [Duration; 2] = [Duration::from_secs(5 * MINUTE), Duration::from_secs(15 * MINUTE)];
/// How long minutes are kept: a day and the day before it, with an hour to spare.
pub const KEEP_MINUTES: Duration = Duration::from_secs(49 * HOUR);
/// How long hours and days are kept: 30 days and the 30 before them, with two days to spare.
pub const KEEP_HOURS: Duration = Duration::from_secs(62 * DAY);

const MINUTE: u64 = 60;
const HOUR: u64 = 3_600;
const DAY: u64 = 86_400;

words! {
    /// Length of time that one figure covers.
    Grain {
        /// The same in every time zone.
        Minute = "minute",
        /// An hour in India, which begins at half past in UTC.
        Hour = "hour",
        /// A calendar day in India.
        Day = "day",
    }
}

/// A period of time, from its first instant to the first one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub from: Timestamp,
    /// Exclusive.
    pub until: Timestamp,
}

/// Figures of one grain that begin within a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FigureSpan {
    pub grain: Grain,
    pub window: Interval,
}

words! {
    /// Period that a page shows.
    Period {
        /// Twelve points of five minutes.
        Hour = "hour",
        /// 24 hours.
        Day = "day",
        /// 30 days.
        Month = "month",
    }
}

impl Grain {
    /// The length of one minute, hour or day.
    pub const fn length(self) -> Duration {
        Duration::from_secs(match self {
            Self::Minute => MINUTE,
            Self::Hour => HOUR,
            Self::Day => DAY,
        })
    }

    /// The beginning of the unit that contains `at`.
    pub fn begin(self, at: Timestamp) -> Timestamp {
        begin(at, self.length())
    }
}

impl Period {
    /// Length of one point of a chart, and number of points.
    pub const fn points(self) -> (Duration, u32) {
        match self {
            Self::Hour => (Duration::from_secs(5 * MINUTE), 12),
            Self::Day => (Duration::from_secs(HOUR), 24),
            Self::Month => (Duration::from_secs(DAY), 30),
        }
    }
}

impl Interval {
    /// The figures that add up to the window, if days and hours are complete up to `settled`: the largest
    /// that fit, and none larger than `coarsest`.
    pub fn spans(self, coarsest: Grain, settled: Timestamp) -> Vec<FigureSpan> {
        let complete = settled.min(self.until);
        let mut spans: Vec<FigureSpan> = Vec::new();
        let mut from = self.from;
        while from < self.until {
            let fits = |grain: &Grain| {
                *grain <= coarsest && grain.begin(from) == from && from + grain.length() <= complete
            };
            let grain = [Grain::Day, Grain::Hour].into_iter().find(fits);
            let (grain, until) = match grain {
                Some(grain) => (grain, from + grain.length()),
                None if from >= complete => (Grain::Minute, self.until),
                None => (Grain::Minute, Grain::Hour.begin(from) + Grain::Hour.length()),
            };
            let until = until.min(self.until);
            match spans.last_mut().filter(|last| last.grain == grain) {
                Some(last) => last.window.until = until,
                None => spans.push(FigureSpan { grain, window: Interval { from, until } }),
            }
            from = until;
        }
        spans
    }
}

/// The unsettled minutes to count at `now`, if all that were due at `last` were counted: earliest first, none
/// twice.
///
/// They cover at most the last hour, however long ago `last` was: older minutes are counted once, when they
/// are settled.
pub fn fresh(last: Option<Timestamp>, now: Timestamp) -> Vec<Interval> {
    let present = Grain::Minute.begin(now);
    let oldest = Grain::Minute.begin(now - SETTLED_AFTER);
    let minute = Grain::Minute.length();
    // The clock of the process that records a request may be ahead of this one.
    let newest = Interval { from: present - minute * 2, until: present + minute * 2 };
    // The clock of the process that counted last may be ahead, too.
    let since = last.map_or(oldest, |last| Grain::Minute.begin(last.min(now)));
    let mut windows: Vec<Interval> = Vec::new();
    let recounts =
        RECOUNTS.iter().rev().map(|age| Interval { from: since - *age, until: present - *age });
    for Interval { from, until } in
        recounts.chain([Interval { from: newest.from.min(since), ..newest }])
    {
        let from = windows.last().map_or(oldest, |last| last.until).max(from);
        if from < until {
            windows.push(Interval { from, until });
        }
    }
    windows
}

/// Hours and days are those of Indian time.
pub(crate) fn begin(at: Timestamp, length: Duration) -> Timestamp {
    let length = i64::try_from(length.as_secs()).unwrap_or(i64::MAX);
    let seconds = at.timestamp() - (at + INDIA_AHEAD).timestamp().rem_euclid(length);
    Timestamp::from_timestamp(seconds, 0).unwrap_or(at)
}

#[cfg(test)]
#[path = "calendar_tests.rs"]
mod tests;
