use crate::{Admission, Quota, Window};
use dwar_kernel::Timestamp;

/// How many sends a phone may get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendQuota {
    /// Sends that hold a place: every one but those that are known to have reached nobody.
    pub places: Quota,
    /// Sends that reached a provider, forgiven ones included; `None` sets no bound.
    pub reach: Option<Quota>,
}

/// A send on record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendSlot {
    /// When it was admitted.
    pub at: Timestamp,
    /// Whether its place was given back: a provider was asked, and nobody was reached.
    pub forgiven: bool,
}

/// The answer to a send: how the phone stands, whatever becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendAdmission {
    /// The send keeps its place, or was refused.
    pub counted: Admission,
    /// Its place is given back, and it still counts as one that reached a provider.
    pub forgiven: Admission,
    /// It is taken off the record.
    pub withdrawn: Admission,
}

/// The sends to one phone that are on record, oldest first.
#[derive(Clone, Debug, Default)]
pub struct SendLog {
    places: Window,
    reach: Window,
}

impl SendLog {
    /// Judges one more send at `now` and, if both bounds have room for it, counts it in both.
    pub fn admit(&mut self, quota: &SendQuota, now: Timestamp) -> SendAdmission {
        let before = self.clone();
        let asked = |log: &mut Self| {
            let reach = quota.reach.map(|reach| log.reach.next(reach, now));
            tighter(log.places.next(quota.places, now), reach)
        };
        let withdrawn = asked(self);
        if !withdrawn.admitted {
            return SendAdmission { counted: withdrawn, forgiven: withdrawn, withdrawn };
        }
        self.places.take(now);
        self.reach.take(now);
        let mut forgiven = Self { places: before.places, reach: self.reach.clone() };
        let admitted = |standing| Admission { admitted: true, ..standing };
        SendAdmission {
            counted: admitted(asked(self)),
            forgiven: admitted(asked(&mut forgiven)),
            withdrawn,
        }
    }
}

/// What both bounds leave together: the smaller remainder, and the wait until both have room.
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

/// Collects the sends on record, oldest first.
impl FromIterator<SendSlot> for SendLog {
    fn from_iter<I: IntoIterator<Item = SendSlot>>(slots: I) -> Self {
        let mut log = Self::default();
        for slot in slots {
            log.reach.take(slot.at);
            if !slot.forgiven {
                log.places.take(slot.at);
            }
        }
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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

    fn judge(quota: SendQuota, slots: &[SendSlot], seconds: i64) -> SendAdmission {
        slots.iter().copied().collect::<SendLog>().admit(&quota, at(seconds))
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
        // At the instant at which the oldest leaves the window there is room for exactly one.
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
        let mut log: SendLog = [kept(0), kept(60)].into_iter().collect();
        log.admit(&LIVE, at(120));
        assert_eq!(told(log.admit(&LIVE, at(121)).counted), (false, 0, 479));
    }

    #[test]
    fn a_refusal_waits_for_both_bounds() {
        // The places are free at 600, the reach at 900.
        let slow = SendQuota { reach: Some(Quota { limit: 2, ..PLACES }), ..LIVE };
        let slots = [kept(0), kept(10), forgiven(300), kept(310)];
        let refused = judge(slow, &slots, 500).counted;
        assert_eq!(told(refused), (false, 0, 400));
        assert!(judge(slow, &slots, 900).counted.admitted);
        assert!(!judge(slow, &slots, 899).counted.admitted);
        // A pace of one per twelve hours waits longer than the reach of ten minutes.
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
    fn a_refusal_counts_nowhere() {
        let mut log: SendLog = [kept(0), kept(0), kept(0)].into_iter().collect();
        for second in 1..60 {
            assert!(!log.admit(&LIVE, at(second)).counted.admitted);
        }
        assert_eq!(told(log.admit(&LIVE, at(600)).counted), (true, 2, 600));
    }
}
