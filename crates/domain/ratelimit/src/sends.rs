use crate::guard::{GuardMark, GuardedSend};
use crate::{Admission, Quota, Window};
use dwar_kernel::{GuardVerdict, GuessBudget, GuessPolicy, SendPace, Timestamp};
use std::time::Duration;

/// How many sends a phone may get within a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendQuota {
    /// For sends that hold a place: all except those that certainly reached nobody.
    pub places: Quota,
    /// For sends that reached a provider, forgiven ones included; `None` sets no bound.
    pub reach: Option<Quota>,
}

/// How many places a phone may keep in a day where its project has a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayBound {
    pub places: Quota,
    /// Whether a send beyond it is refused. Otherwise that is only put on record.
    pub is_enforced: bool,
}

impl DayBound {
    /// 30 places in 24 hours.
    pub const fn new(is_enforced: bool) -> Self {
        let places = Quota { limit: 30, window: Duration::from_secs(86_400) };
        Self { places, is_enforced }
    }
}

/// Why a send to a phone is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendBound {
    /// The phone has reached its limit for the window.
    Limit,
    /// The phone has reached its [`DayBound`].
    Day,
    Pace,
    /// No sends for a while after too many wrong guesses.
    Stop,
}

/// When the next send to a phone is admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextSendSlot {
    pub at: Timestamp,
    pub remaining: u32,
    /// The bound that delays the send until then; `None` if it is admitted now.
    pub bound: Option<SendBound>,
}

/// A send on record, as the limit counts it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendSlot {
    pub at: Timestamp,
    /// Whether its place was returned: a provider was called, and certainly nobody was reached.
    pub forgiven: bool,
}

/// Result of a send: the state of the phone's limit for each outcome that the send may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendAdmission {
    /// The bound that refused the send; `None` if it was admitted.
    pub refused_by: Option<SendBound>,
    /// State if the send keeps its place, or was refused.
    pub counted: Admission,
    /// State if its place is returned while it still counts as having reached a provider.
    pub forgiven: Admission,
    pub withdrawn: Admission,
    /// What the send means for the guard; `None` if the guard is off, or the send was not admitted.
    pub guard: Option<GuardMark>,
    /// Whether only a known device was admitted, so that strangers may not guess at the code either.
    pub device_only: bool,
    /// Whether a [`DayBound`] that is not enforced was reached.
    pub over_day: bool,
}

impl SendAdmission {
    /// The verdict of the guard on the send, which its levels judged like this; `None` if the guard has nothing
    /// to say.
    pub fn verdict(&self, by_level: Option<GuardedSend>) -> Option<GuardVerdict> {
        let by_level = by_level.map(|guard| guard.verdict);
        match by_level {
            Some(refused) if refused.is_refusal() => by_level,
            _ if self.over_day => Some(GuardVerdict::Day),
            _ => by_level,
        }
    }

    /// The result of a send that `bound` refused.
    pub const fn refused(bound: SendBound, admission: Admission) -> Self {
        let refused_by = Some(bound);
        let [counted, forgiven, withdrawn] = [admission; 3];
        Self {
            refused_by,
            counted,
            forgiven,
            withdrawn,
            guard: None,
            device_only: false,
            over_day: false,
        }
    }
}

/// The recorded sends and wrong guesses that decide whether the next send of a phone is admitted.
#[derive(Clone, Debug, Default)]
pub struct SendLog {
    places: Window,
    reach: Window,
    guesses: GuessBudget,
}

impl SendLog {
    /// Builds the log from the sends on record, oldest first, and the wrong guesses.
    pub fn new(sends: impl IntoIterator<Item = SendSlot>, guesses: GuessBudget) -> Self {
        let mut log = Self { guesses, ..Self::default() };
        for send in sends {
            log.reach.take(send.at);
            if !send.forgiven {
                log.places.take(send.at);
            }
        }
        log
    }

    /// The wrong guesses that slow down or stop sends.
    pub const fn guesses(&self) -> &GuessBudget {
        &self.guesses
    }

    /// When, from `now` on, [`SendLog::admit`] will have room for one more send, and which bound delays it;
    /// `None` if it never will. Changes nothing.
    pub fn opens(
        &self,
        quota: &SendQuota,
        policy: &GuessPolicy,
        now: Timestamp,
    ) -> Option<NextSendSlot> {
        let mut at = now;
        let mut first = None;
        // A stop may be followed by a pace, a pace by the limit.
        for _ in 0..4 {
            let answer = self.clone().admit(quota, policy, at);
            let Some(bound) = answer.refused_by else {
                return Some(NextSendSlot {
                    at,
                    remaining: answer.withdrawn.remaining,
                    bound: first,
                });
            };
            first = first.or(Some(bound));
            at += answer.withdrawn.reset;
        }
        None
    }

    /// Judges one more send at `now`; if both bounds have room, counts it in both. After many wrong guesses
    /// there is at most one place, for as long as `policy` says.
    pub fn admit(
        &mut self,
        quota: &SendQuota,
        policy: &GuessPolicy,
        now: Timestamp,
    ) -> SendAdmission {
        self.judge(quota, self.guesses.pace(policy, now), now)
    }

    /// Judges one more send of a known device that [`SendLog::admit`] would refuse: wrong guesses neither slow it
    /// down nor stop it.
    pub fn admit_device(&mut self, quota: &SendQuota, now: Timestamp) -> SendAdmission {
        let admission = self.judge(quota, SendPace::Usual, now);
        SendAdmission { device_only: admission.refused_by.is_none(), ..admission }
    }

    fn judge(&mut self, quota: &SendQuota, pace: SendPace, now: Timestamp) -> SendAdmission {
        let (places, bound) = match pace {
            SendPace::Usual => (quota.places, SendBound::Limit),
            SendPace::OnePer(window) => (Quota { limit: 1, window }, SendBound::Pace),
            SendPace::Stopped(reset) => {
                let none = Admission { admitted: false, limit: 0, remaining: 0, reset };
                return SendAdmission::refused(SendBound::Stop, none);
            }
        };
        let before = self.clone();
        let asked = |log: &mut Self| {
            let reach = quota.reach.map(|reach| log.reach.next(reach, now));
            tighter(log.places.next(places, now), reach)
        };
        let withdrawn = asked(self);
        if !withdrawn.admitted {
            let has_place = self.places.next(places, now).admitted;
            let bound = if has_place { SendBound::Limit } else { bound };
            return SendAdmission::refused(bound, withdrawn);
        }
        self.places.take(now);
        self.reach.take(now);
        let mut forgiven = Self { reach: self.reach.clone(), ..before };
        let admitted = |admission| Admission { admitted: true, ..admission };
        SendAdmission {
            refused_by: None,
            counted: admitted(asked(self)),
            forgiven: admitted(asked(&mut forgiven)),
            withdrawn,
            guard: None,
            device_only: false,
            over_day: false,
        }
    }

    /// The refusal of one more send at `now`, if the phone has kept as many places as `day` allows.
    pub fn refused_for_the_day(&self, day: Quota, now: Timestamp) -> Option<SendAdmission> {
        let next = self.places.clone().next(day, now);
        (!next.admitted).then(|| SendAdmission::refused(SendBound::Day, next))
    }
}

/// Combines both bounds: the smaller remainder, and the wait until both have room.
fn tighter(places: Admission, reach: Option<Admission>) -> Admission {
    let Some(reach) = reach else { return places };
    let wait = |one: Admission| (one.remaining == 0).then_some(one.reset);
    Admission {
        admitted: places.admitted && reach.admitted,
        remaining: places.remaining.min(reach.remaining),
        reset: wait(places).max(wait(reach)).unwrap_or(places.reset),
        ..places
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dwar_kernel::GuessPeriod;
    use std::time::Duration;

    const PLACES: Quota = Quota { limit: 3, window: Duration::from_secs(600) };
    const REACH: Quota = Quota { limit: 10, ..PLACES };
    const LIVE: SendQuota = SendQuota { places: PLACES, reach: Some(REACH) };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000 + seconds, 0).unwrap()
    }

    fn kept(seconds: i64) -> SendSlot {
        SendSlot { at: at(seconds), forgiven: false }
    }

    fn forgiven(seconds: i64) -> SendSlot {
        SendSlot { forgiven: true, ..kept(seconds) }
    }

    fn log(slots: &[SendSlot]) -> SendLog {
        SendLog::new(slots.iter().copied(), GuessBudget::default())
    }

    fn judge(quota: SendQuota, slots: &[SendSlot], seconds: i64) -> SendAdmission {
        log(slots).admit(&quota, &GuessPolicy::OFF, at(seconds))
    }

    fn told(admission: Admission) -> (bool, u32, u64) {
        (admission.admitted, admission.remaining, admission.reset_seconds())
    }

    #[test]
    fn a_forgiven_send_leaves_its_place_and_still_counts_as_one_that_reached_a_provider() {
        let nine: Vec<_> = (0..9).map(forgiven).collect();
        let tenth = judge(LIVE, &nine, 100);
        assert_eq!(told(tenth.counted), (true, 0, 500));
        assert_eq!(told(tenth.forgiven), (true, 0, 500));
        assert_eq!(told(tenth.withdrawn), (true, 1, 600));
        let ten: Vec<_> = (0..10).map(forgiven).collect();
        assert_eq!(told(judge(LIVE, &ten, 599).counted), (false, 0, 1));
        // At the instant when the oldest leaves the window there is room for exactly one.
        let next = judge(LIVE, &ten, 600);
        assert_eq!(told(next.counted), (true, 0, 1));
    }

    #[test]
    fn each_outcome_leaves_what_the_answer_says() {
        let first = judge(LIVE, &[], 0);
        assert_eq!(told(first.counted), (true, 2, 600));
        assert_eq!(told(first.forgiven), (true, 3, 600));
        assert_eq!(told(first.withdrawn), (true, 3, 600));
        let third = judge(LIVE, &[kept(0), kept(60)], 120);
        assert_eq!(told(third.counted), (true, 0, 480));
        assert_eq!(told(third.forgiven), (true, 1, 600));
        let mut log = log(&[kept(0), kept(60)]);
        log.admit(&LIVE, &GuessPolicy::OFF, at(120));
        let next = log.admit(&LIVE, &GuessPolicy::OFF, at(121));
        assert_eq!(told(next.counted), (false, 0, 479));
    }

    #[test]
    fn a_refusal_waits_for_both_bounds() {
        // Places become free at 600, the reach at 900.
        let slow = SendQuota { reach: Some(Quota { limit: 2, ..PLACES }), ..LIVE };
        let slots = [kept(0), kept(10), forgiven(300), kept(310)];
        let refused = judge(slow, &slots, 500).counted;
        assert_eq!(told(refused), (false, 0, 400));
        assert!(judge(slow, &slots, 900).counted.admitted);
        assert!(!judge(slow, &slots, 899).counted.admitted);
        // A pace of one per twelve hours lasts longer than the reach of ten minutes.
        let pace = Quota { limit: 1, window: Duration::from_secs(43_200) };
        let stopped = judge(SendQuota { places: pace, ..LIVE }, &[kept(0)], 700).counted;
        assert_eq!((told(stopped), stopped.limit), ((false, 0, 42_500), 1));
    }

    #[test]
    fn without_a_bound_on_reach_forgiven_sends_go_on() {
        let many: Vec<_> = (0..50).map(forgiven).collect();
        let free = SendQuota { reach: None, ..LIVE };
        assert_eq!(told(judge(free, &many, 100).forgiven), (true, 3, 600));
    }

    #[test]
    fn wrong_guesses_slow_sends_down_and_stop_them() {
        let day = Duration::from_secs(86_400);
        let policy = GuessPolicy {
            slow_from: 30,
            slow_pace: Duration::from_secs(600),
            stop_at: 100,
            stop_for: day,
            stop_pace: day / 2,
            period: day * 30,
            ..GuessPolicy::OFF
        };
        let after = |wrong, seconds| {
            let stopped_at = (wrong >= policy.stop_at).then(|| at(0));
            let period = Some(GuessPeriod { began_at: at(0), wrong, stopped_at });
            let guesses = GuessBudget { wrong, last_wrong_at: Some(at(0)), period, devices: None };
            SendLog::new([kept(0)], guesses).admit(&LIVE, &policy, at(seconds)).counted
        };
        let named = |admission: Admission| (admission.limit, told(admission));
        assert_eq!(named(after(29, 1)), (3, (true, 1, 600)));
        assert_eq!(named(after(30, 1)), (1, (false, 0, 599)));
        assert_eq!(named(after(30, 600)), (1, (true, 0, 600)));
        assert_eq!(named(after(100, 3_600)), (0, (false, 0, 82_800)));
        assert_eq!(named(after(100, 86_400)), (1, (true, 0, 43_200)));
    }

    #[test]
    fn the_next_send_is_admitted_when_it_is_said_to_be_and_no_sooner() {
        let day = Duration::from_secs(86_400);
        let policy = GuessPolicy {
            slow_from: 30,
            slow_pace: Duration::from_secs(600),
            stop_at: 100,
            stop_for: day,
            stop_pace: day / 2,
            period: day * 30,
            ..GuessPolicy::OFF
        };
        let guesses = |wrong| {
            let stopped_at = (wrong >= policy.stop_at).then(|| at(100));
            let period = Some(GuessPeriod { began_at: at(0), wrong, stopped_at });
            GuessBudget { wrong, last_wrong_at: Some(at(100)), period, devices: None }
        };
        let three = [kept(0), kept(60), kept(100)];
        // The stop ends before the following pace has room: a send shortly before the end of the stop.
        let late = [kept(86_000)];
        let cases = [
            (&three[..2], 0, 100, None),
            (&three[..], 0, 100, Some((600, SendBound::Limit))),
            (&three[..], 30, 100, Some((700, SendBound::Pace))),
            (&three[..], 100, 100, Some((86_500, SendBound::Stop))),
            (&late[..], 100, 86_100, Some((129_200, SendBound::Stop))),
        ];
        for (slots, wrong, now, told) in cases {
            let log = SendLog::new(slots.iter().copied(), guesses(wrong));
            let opening = log.opens(&LIVE, &policy, at(now)).unwrap();
            let admits = |when| log.clone().admit(&LIVE, &policy, when).counted.admitted;
            assert!(admits(opening.at), "{wrong} {now}");
            assert_eq!(
                told,
                opening.bound.map(|bound| ((opening.at - at(0)).num_seconds(), bound))
            );
            assert!(told.is_none() || !admits(opening.at - Duration::from_millis(1)), "{wrong}");
        }
        let once = SendQuota { places: Quota { limit: 1, ..PLACES }, reach: None };
        for (wrong, bound) in [(0, SendBound::Limit), (30, SendBound::Pace), (100, SendBound::Stop)]
        {
            let mut log = SendLog::new([kept(100)], guesses(wrong));
            assert_eq!(log.opens(&once, &policy, at(101)).unwrap().bound, Some(bound));
            assert_eq!(log.admit(&once, &policy, at(101)).refused_by, Some(bound), "{wrong}");
        }
        // The one place of the pace is free, but ten sends that reached a provider are at the limit.
        let reached: Vec<_> = (90..100).map(forgiven).collect();
        let refused = SendLog::new(reached, guesses(30)).admit(&LIVE, &policy, at(101));
        assert_eq!(refused.refused_by, Some(SendBound::Limit));
        let none = SendQuota { places: Quota { limit: 0, ..PLACES }, reach: None };
        assert_eq!(log(&[]).opens(&none, &policy, at(0)), None);
    }

    #[test]
    fn a_refusal_counts_nowhere() {
        let mut log = log(&[kept(0), kept(0), kept(0)]);
        for second in 1..60 {
            assert!(!log.admit(&LIVE, &GuessPolicy::OFF, at(second)).counted.admitted);
        }
        assert_eq!(told(log.admit(&LIVE, &GuessPolicy::OFF, at(600)).counted), (true, 2, 600));
    }
}
