use crate::calendar::begin;
use crate::{Grain, Interval, KEEP_HOURS, KEEP_MINUTES, Period};
use dwar_kernel::Timestamp;
use std::time::Duration;

/// The requested figures: the latest period, or those between two instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FiguresPeriod {
    Last(Period),
    /// The end is exclusive.
    Between(Timestamp, Timestamp),
}

/// A period of time that is shown point by point, with the period it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub window: Interval,
    /// Length of one point: five minutes, an hour or a day.
    pub point: Duration,
    /// The preceding period of the same length; `None` if its figures are no longer kept.
    pub before: Option<Interval>,
}

/// Ranges up to this length are shown in points of five minutes.
const FINE: Duration = Duration::from_secs(3 * 3_600);
/// Ranges up to this length are shown in hours, longer ones in days.
const MEDIUM: Duration = Duration::from_secs(48 * 3_600);

impl FiguresPeriod {
    /// The range at `now`. A range between two instants is widened to whole points, which are as fine as the
    /// kept figures allow, and cut to the kept figures; `None` if nothing of it is kept.
    pub fn range(self, now: Timestamp) -> Option<Range> {
        match self {
            Self::Last(period) => Some(Range::last(period, now)),
            Self::Between(from, until) => Range::between(from, until, now),
        }
    }
}

impl Range {
    /// The period whose last point contains `now`, up to `now`.
    pub fn last(period: Period, now: Timestamp) -> Self {
        let (point, count) = period.points();
        let from = begin(now, point) - point * (count - 1);
        Self::of(Interval { from, until: now }, point, count, now)
    }

    fn between(from: Timestamp, until: Timestamp, now: Timestamp) -> Option<Self> {
        let oldest = Grain::Day.begin(now - KEEP_HOURS) + Grain::Day.length();
        let (from, until) = (from.max(oldest), until.min(now));
        let length = (until - from).to_std().ok().filter(|length| !length.is_zero())?;
        let has_minutes = begin(from, Period::Hour.points().0) >= now - KEEP_MINUTES;
        let period = if length <= FINE && has_minutes {
            Period::Hour
        } else if length <= MEDIUM {
            Period::Day
        } else {
            Period::Month
        };
        let (point, _) = period.points();
        let from = begin(from, point);
        let last = begin(until, point);
        let end = if last == until { last } else { last + point };
        let count = (end - from).to_std().ok()?.as_secs() / point.as_secs();
        let window = Interval { from, until: end.min(now) };
        Some(Self::of(window, point, u32::try_from(count).ok()?, now))
    }

    /// The preceding period ends with a whole minute, or with a whole hour if its minutes are deleted.
    fn of(window: Interval, point: Duration, count: u32, now: Timestamp) -> Self {
        let earlier = point * count;
        let (from, until) = (window.from - earlier, window.until - earlier);
        let has_minutes = from >= now - KEEP_MINUTES;
        let finest = if has_minutes { Grain::Minute } else { Grain::Hour };
        let is_kept = from >= now - KEEP_HOURS && (has_minutes || Grain::Hour.begin(from) == from);
        let before = Interval { from, until: finest.begin(until) };
        Self { window, point, before: is_kept.then_some(before) }
    }

    /// The largest figures that make up a point.
    pub const fn coarsest(&self) -> Grain {
        match self.point.as_secs() {
            86_400.. => Grain::Day,
            3_600.. => Grain::Hour,
            _ => Grain::Minute,
        }
    }

    /// The beginning of the point that contains `at`.
    pub fn point(&self, at: Timestamp) -> Timestamp {
        begin(at, self.point)
    }

    /// All points; the last one ends with the range.
    pub fn points(&self) -> impl Iterator<Item = Interval> + use<> {
        let Self { window: Interval { from, until }, point, .. } = *self;
        let begins = std::iter::successors(Some(from), move |at| Some(*at + point));
        begins
            .take_while(move |at| *at < until)
            .map(move |at| Interval { from: at, until: (at + point).min(until) })
    }
}

#[cfg(test)]
#[path = "range_tests.rs"]
mod tests;
