use crate::Quota;
use crate::instants::Instants;
use dwar_kernel::Timestamp;
use std::time::Duration;

/// Result of a limiter, with all values for `RateLimit-*` and `Retry-After`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Admission {
    /// A refused request is never counted.
    pub admitted: bool,
    pub limit: u32,
    pub remaining: u32,
    /// Time until the next place is free if none is left, else until the window is empty.
    pub reset: Duration,
}

impl Admission {
    /// How one more request at `now` would be judged with `taken` places occupied.
    ///
    /// `next_free` is the admission (milliseconds since 1970) whose end makes room: the one with `taken -
    /// quota.limit` earlier ones. It is ignored if there is room.
    pub fn next(quota: Quota, taken: usize, next_free: Option<i64>, now: Timestamp) -> Self {
        let limit = usize::try_from(quota.limit).unwrap_or(usize::MAX);
        let remaining = limit.saturating_sub(taken);
        let wait = next_free.filter(|_| remaining == 0).map(|at| left(at, quota.window, now));
        Self {
            admitted: remaining > 0,
            limit: quota.limit,
            remaining: u32::try_from(remaining).unwrap_or(u32::MAX),
            reset: wait.unwrap_or(quota.window),
        }
    }

    /// Whole seconds until [`Admission::reset`], rounded up, as headers carry them.
    pub fn reset_seconds(&self) -> u64 {
        self.reset.as_secs() + u64::from(self.reset.subsec_nanos() > 0)
    }
}

/// The admissions of one key that still occupy a place, oldest first.
///
/// An admission at `t` occupies its place while `now < t + window` and frees it at that instant, to the
/// millisecond. It costs a byte or two of memory.
#[derive(Clone, Debug, Default)]
pub struct Window {
    taken: Instants,
}

impl Window {
    /// Judges one more request at `now`; counts it if it is admitted.
    pub fn hit(&mut self, quota: Quota, now: Timestamp) -> Admission {
        let next = self.next(quota, now);
        if !next.admitted {
            return next;
        }
        self.take(now);
        Admission { admitted: true, ..self.next(quota, now) }
    }

    pub(crate) fn take(&mut self, at: Timestamp) {
        self.taken.push(at);
    }

    pub(crate) const fn len(&self) -> usize {
        self.taken.len()
    }

    /// The admission with `before` earlier ones, in milliseconds since 1970.
    pub(crate) fn nth(&self, before: u32) -> Option<i64> {
        self.taken.nth(usize::try_from(before).ok()?)
    }

    /// Numbers of admissions by age at `now`, in multiples of `step`; youngest first.
    pub(crate) fn ages(&self, step: Duration, now: Timestamp) -> Vec<u32> {
        let now = now.timestamp_millis();
        let step = step.as_nanos().max(1);
        let mut ages = Vec::new();
        for at in self.taken.iter() {
            let age = u128::from(u64::try_from(now - at).unwrap_or_default()) * 1_000_000 / step;
            let age = usize::try_from(age).unwrap_or(usize::MAX);
            if ages.len() <= age {
                ages.resize(age + 1, 0);
            }
            ages[age] += 1;
        }
        ages
    }

    /// How one more request at `now` would be judged, without counting it.
    pub(crate) fn next(&mut self, quota: Quota, now: Timestamp) -> Admission {
        self.expire(quota.window, now);
        let limit = usize::try_from(quota.limit).unwrap_or(usize::MAX);
        let excess = self.taken.len().saturating_sub(limit);
        Admission::next(quota, self.taken.len(), self.taken.nth(excess), now)
    }

    /// Drops admissions that no longer occupy a place; `true` if none is left.
    pub fn expire(&mut self, window: Duration, now: Timestamp) -> bool {
        while self.taken.first().is_some_and(|at| left(at, window, now).is_zero()) {
            self.taken.pop_first();
        }
        self.taken.shrink();
        self.taken.is_empty()
    }
}

/// How long an admission at `at` (milliseconds since 1970) still occupies its place; at most one window, even
/// if the clock was set back.
fn left(at: i64, window: Duration, now: Timestamp) -> Duration {
    let age = u64::try_from(now.timestamp_millis() - at).unwrap_or_default();
    window.saturating_sub(Duration::from_millis(age))
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUOTA: Quota = Quota { limit: 3, window: Duration::from_secs(600) };

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_timestamp_millis(1_800_000_000_000 + millis).unwrap()
    }

    fn judge(quota: Quota, taken: &[Timestamp], now: Timestamp) -> Admission {
        let mut window = Window::default();
        taken.iter().for_each(|at| window.take(*at));
        window.hit(quota, now)
    }

    #[test]
    fn admits_up_to_the_limit_and_counts_down() {
        let first = judge(QUOTA, &[], at(0));
        assert_eq!((first.admitted, first.remaining, first.reset_seconds()), (true, 2, 600));
        let third = judge(QUOTA, &[at(0), at(1_000)], at(2_000));
        assert_eq!((third.admitted, third.remaining, third.reset_seconds()), (true, 0, 598));
        let fourth = judge(QUOTA, &[at(0), at(1_000), at(2_000)], at(3_000));
        assert_eq!((fourth.admitted, fourth.remaining), (false, 0));
        assert_eq!(fourth.reset_seconds(), 597);
    }

    #[test]
    fn frees_a_place_at_the_exact_instant() {
        let taken = [at(0), at(1), at(2)];
        assert!(!judge(QUOTA, &taken, at(599_999)).admitted);
        assert!(judge(QUOTA, &taken, at(600_000)).admitted);
    }

    #[test]
    fn a_client_that_waits_as_told_is_admitted() {
        let taken = [at(0), at(700), at(900)];
        let refused = judge(QUOTA, &taken, at(1_234));
        let wait = i64::try_from(refused.reset_seconds()).unwrap() * 1_000;
        assert!(judge(QUOTA, &taken, at(1_234 + wait)).admitted);
    }

    #[test]
    fn a_tightened_quota_waits_for_as_many_places_as_it_lacks() {
        let tight = Quota { limit: 1, ..QUOTA };
        let taken = [at(0), at(100_000), at(200_000)];
        assert_eq!(judge(tight, &taken, at(300_000)).reset_seconds(), 500);
    }

    #[test]
    fn a_quota_of_none_admits_none() {
        let none = Quota { limit: 0, ..QUOTA };
        let answer = judge(none, &[], at(0));
        assert_eq!((answer.admitted, answer.reset_seconds()), (false, 600));
    }

    #[test]
    fn a_clock_that_steps_back_does_not_stretch_the_wait() {
        let refused = judge(QUOTA, &[at(0), at(0), at(0)], at(-300_000));
        assert_eq!(refused.reset_seconds(), 600);
    }
}
