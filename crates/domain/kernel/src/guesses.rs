use crate::Timestamp;
use std::time::Duration;

/// Wrong codes for one phone of one project, counted across resends (live keys only).
///
/// By itself, the limit per code would allow 15 guesses every 10 minutes for ever
/// (docs/contract.md, Guess budget; NIST SP 800-63B, section 3.2.2, requires at most 100 in a row).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuessBudget {
    /// Wrong codes in a row, since the last success.
    pub wrong: u32,
    /// Time of the last wrong code, whether a success followed or not, and whether a known device sent it or not.
    pub last_wrong_at: Option<Timestamp>,
    /// The current period; `None` before a wrong code, and if the policy has no stop.
    pub period: Option<GuessPeriod>,
    /// Wrong codes of known devices. They are in no other count.
    pub devices: Option<DevicePeriod>,
}

/// Wrong codes that all known devices of a phone sent in one period, which begins with a wrong code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DevicePeriod {
    pub began_at: Timestamp,
    pub wrong: u32,
}

/// Wrong codes of one period. A period begins with a wrong code; a success does not reset it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuessPeriod {
    pub began_at: Timestamp,
    pub wrong: u32,
    /// When [`GuessPolicy::stop_at`] was reached.
    pub stopped_at: Option<Timestamp>,
}

/// The numbers of wrong codes at which sends slow down or stop; the defaults are those of docs/contract.md. 0
/// turns a step off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GuessPolicy {
    /// From this many wrong codes in a row, one send per [`GuessPolicy::slow_pace`].
    pub slow_from: u32,
    pub slow_pace: Duration,
    /// From this many wrong codes in a row, one send per [`GuessPolicy::slower_pace`].
    pub slower_from: u32,
    pub slower_pace: Duration,
    /// At this many wrong codes in one period, no code is judged or sent for [`GuessPolicy::stop_for`].
    pub stop_at: u32,
    pub stop_for: Duration,
    /// After a stop, one send per this long until the period ends.
    pub stop_pace: Duration,
    /// Length of a period; also how long wrong codes in a row are remembered after the last one.
    pub period: Duration,
    /// At this many wrong codes of known devices in one period they are treated as strangers until it ends. 0
    /// treats them so always.
    pub device_stop_at: u32,
}

/// How often codes may be sent to a phone, given its wrong guesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendPace {
    /// As often as the limit per phone allows.
    Usual,
    OnePer(Duration),
    Stopped(Duration),
}

impl Default for GuessPolicy {
    fn default() -> Self {
        let hours = |hours: u64| Duration::from_secs(hours * 3_600);
        Self {
            slow_from: 30,
            slow_pace: Duration::from_secs(600),
            slower_from: 60,
            slower_pace: hours(1),
            stop_at: 100,
            stop_for: hours(24),
            stop_pace: hours(12),
            period: hours(30 * 24),
            device_stop_at: 20,
        }
    }
}

impl GuessPolicy {
    /// No guess budget: the policy of test keys.
    pub const OFF: Self = Self {
        slow_from: 0,
        slow_pace: Duration::ZERO,
        slower_from: 0,
        slower_pace: Duration::ZERO,
        stop_at: 0,
        stop_for: Duration::ZERO,
        stop_pace: Duration::ZERO,
        period: Duration::MAX,
        device_stop_at: 0,
    };
}

impl GuessBudget {
    /// The budget as of `now`, without counts that have expired.
    #[must_use]
    pub fn at(self, policy: &GuessPolicy, now: Timestamp) -> Self {
        let period = self.period.filter(|period| !period.is_over(policy, now));
        let devices = self.devices.filter(|devices| age(devices.began_at, now) < policy.period);
        let remembered = self.last_wrong_at.is_some_and(|last| age(last, now) < policy.period);
        if remembered || period.is_some() || devices.is_some() {
            Self { wrong: if remembered { self.wrong } else { 0 }, period, devices, ..self }
        } else {
            Self::default()
        }
    }

    /// How often codes may be sent at `now`.
    pub fn pace(self, policy: &GuessPolicy, now: Timestamp) -> SendPace {
        let count = self.at(policy, now);
        if let Some(rest) = count.stopped_for(policy, now) {
            return SendPace::Stopped(rest);
        }
        let after_stop = count.period.is_some_and(|period| period.stopped_at.is_some());
        let reached = |step: u32| step > 0 && count.wrong >= step;
        let paces = [
            (reached(policy.slow_from), policy.slow_pace),
            (reached(policy.slower_from), policy.slower_pace),
            (after_stop, policy.stop_pace),
        ];
        let slowest = paces.into_iter().filter(|(holds, _)| *holds).map(|(_, pace)| pace).max();
        match slowest {
            Some(pace) if !pace.is_zero() => SendPace::OnePer(pace),
            _ => SendPace::Usual,
        }
    }

    /// How long from `now` no code is judged or sent; `None` if there is no stop.
    pub fn stopped_for(self, policy: &GuessPolicy, now: Timestamp) -> Option<Duration> {
        let rest = policy.stop_for.saturating_sub(age(self.period?.stopped_at?, now));
        (policy.stop_at > 0 && !rest.is_zero()).then_some(rest)
    }

    /// Whether the change from `before` to this budget reached the stop; true once per period.
    pub fn stops_after(&self, before: &Self) -> bool {
        let stopped_at = |budget: &Self| budget.period.and_then(|period| period.stopped_at);
        stopped_at(self).is_some() && stopped_at(self) != stopped_at(before)
    }

    /// Counts a wrong code. The budget MUST be as of `now`, by [`GuessBudget::at`].
    pub fn count_wrong(&mut self, policy: &GuessPolicy, now: Timestamp) {
        self.wrong = self.wrong.saturating_add(1);
        self.last_wrong_at = Some(now);
        if policy.stop_at == 0 {
            return;
        }
        let begin = GuessPeriod { began_at: now, wrong: 0, stopped_at: None };
        let period = self.period.get_or_insert(begin);
        period.wrong = period.wrong.saturating_add(1);
        if period.wrong >= policy.stop_at {
            period.stopped_at = period.stopped_at.or(Some(now));
        }
    }

    /// Whether known devices are not treated as strangers at `now`.
    pub fn trusts_devices(self, policy: &GuessPolicy, now: Timestamp) -> bool {
        let wrong = self.at(policy, now).devices.map_or(0, |devices| devices.wrong);
        wrong < policy.device_stop_at
    }

    /// Counts a wrong code of a trusted device. The budget MUST be as of `now`, by [`GuessBudget::at`].
    pub fn count_device_wrong(&mut self, now: Timestamp) {
        self.last_wrong_at = Some(now);
        let devices = self.devices.get_or_insert(DevicePeriod { began_at: now, wrong: 0 });
        devices.wrong = devices.wrong.saturating_add(1);
    }

    /// Resets the count of wrong codes in a row; the counts of periods stay.
    pub fn count_success(&mut self) {
        self.wrong = 0;
        if self.period.is_none() && self.devices.is_none() {
            *self = Self::default();
        }
    }
}

impl GuessPeriod {
    /// A stop lasts its full time, even beyond the end of the period.
    fn is_over(&self, policy: &GuessPolicy, now: Timestamp) -> bool {
        let stop_is_over = self.stopped_at.is_none_or(|at| age(at, now) >= policy.stop_for);
        age(self.began_at, now) >= policy.period && stop_is_over
    }
}

/// Time since `at`; zero if the clock was set back.
fn age(at: Timestamp, now: Timestamp) -> Duration {
    (now - at).to_std().unwrap_or_default()
}

#[cfg(test)]
#[path = "guesses_tests.rs"]
mod tests;
