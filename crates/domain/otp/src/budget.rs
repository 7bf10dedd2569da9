use dwar_kernel::Timestamp;
use std::time::Duration;

/// Wrong codes in a row for one phone of one project, counted across resends (live keys only).
///
/// The limits per code alone would allow 15 guesses every 10 minutes for ever (decisions, Guess
/// budget; NIST SP 800-63B asks for at most 100 in a row).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuessBudget {
    /// How many since the last success.
    pub wrong: u32,
    /// When the last one was.
    pub last_wrong_at: Option<Timestamp>,
}

/// From how many wrong codes in a row on sends slow down. 0 turns a step off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuessPolicy {
    /// From here on one send per [`GuessPolicy::slow_pace`].
    pub slow_from: u32,
    /// Ten minutes by default.
    pub slow_pace: Duration,
    /// From here on one send per [`GuessPolicy::slower_pace`].
    pub slower_from: u32,
    /// One hour by default.
    pub slower_pace: Duration,
    /// At this number no code is judged and none is sent for [`GuessPolicy::stop_for`].
    pub stop_at: u32,
    /// 24 hours by default; afterwards the count starts anew.
    pub stop_for: Duration,
}

/// How fast codes may be sent to a phone, given its wrong guesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendPace {
    /// The specification's limit alone.
    Usual,
    /// One send per this long.
    OnePer(Duration),
    /// None until this long from now.
    Stopped(Duration),
}

impl GuessPolicy {
    /// No budget, as with test keys.
    pub const OFF: Self = Self {
        slow_from: 0,
        slow_pace: Duration::ZERO,
        slower_from: 0,
        slower_pace: Duration::ZERO,
        stop_at: 0,
        stop_for: Duration::ZERO,
    };
}

impl GuessBudget {
    /// The count as it stands at `now`: a stop that has been sat out is forgotten.
    #[must_use]
    pub fn at(self, policy: &GuessPolicy, now: Timestamp) -> Self {
        let served = self.exhausted(policy) && self.rest(policy, now).is_zero();
        if served { Self::default() } else { self }
    }

    /// How fast codes may be sent at `now`.
    pub fn pace(self, policy: &GuessPolicy, now: Timestamp) -> SendPace {
        let now_count = self.at(policy, now);
        let reached = |step: u32| step > 0 && now_count.wrong >= step;
        if now_count.exhausted(policy) {
            SendPace::Stopped(now_count.rest(policy, now))
        } else if reached(policy.slower_from) {
            SendPace::OnePer(policy.slower_pace)
        } else if reached(policy.slow_from) {
            SendPace::OnePer(policy.slow_pace)
        } else {
            SendPace::Usual
        }
    }

    /// Whether no further code may be judged.
    pub const fn exhausted(self, policy: &GuessPolicy) -> bool {
        policy.stop_at > 0 && self.wrong >= policy.stop_at
    }

    pub(crate) fn count_wrong(&mut self, now: Timestamp) {
        self.wrong = self.wrong.saturating_add(1);
        self.last_wrong_at = Some(now);
    }

    fn rest(self, policy: &GuessPolicy, now: Timestamp) -> Duration {
        let age = self.last_wrong_at.and_then(|last| (now - last).to_std().ok());
        policy.stop_for.saturating_sub(age.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);
    const POLICY: GuessPolicy = GuessPolicy {
        slow_from: 30,
        slow_pace: Duration::from_secs(600),
        slower_from: 60,
        slower_pace: HOUR,
        stop_at: 100,
        stop_for: Duration::from_secs(86_400),
    };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn pace(wrong: u32, seconds: i64) -> SendPace {
        GuessBudget { wrong, last_wrong_at: Some(at(0)) }.pace(&POLICY, at(seconds))
    }

    #[test]
    fn slows_down_at_each_step_and_stops() {
        assert_eq!(pace(29, 1), SendPace::Usual);
        assert_eq!(pace(30, 1), SendPace::OnePer(POLICY.slow_pace));
        assert_eq!(pace(59, 1), SendPace::OnePer(POLICY.slow_pace));
        assert_eq!(pace(60, 1), SendPace::OnePer(HOUR));
        assert_eq!(pace(100, 60), SendPace::Stopped(Duration::from_secs(86_340)));
    }

    #[test]
    fn a_stop_ends_by_itself_at_the_exact_instant() {
        assert_eq!(pace(100, 86_399), SendPace::Stopped(Duration::from_secs(1)));
        assert_eq!(pace(100, 86_400), SendPace::Usual);
    }

    #[test]
    fn off_never_slows() {
        let budget = GuessBudget { wrong: 10_000, last_wrong_at: Some(at(0)) };
        assert_eq!(budget.pace(&GuessPolicy::OFF, at(0)), SendPace::Usual);
        assert!(!budget.exhausted(&GuessPolicy::OFF));
    }
}
