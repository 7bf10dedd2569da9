use crate::{Interval, Progress};
use dwar_kernel::{KeeperId, Timestamp};
use std::time::Duration;

/// The lease on the figures, and the progress of the figures; a store loads it before a step and saves it
/// after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FiguresLease {
    pub progress: Progress,
    /// The keeper with the lease, and when the lease ends.
    pub led: Option<(KeeperId, Timestamp)>,
}

impl FiguresLease {
    /// Gives `keeper` the lease for the time `lease`, unless another keeper holds it. A stored end more than
    /// two leases from now is ignored: a clock that was far ahead wrote it.
    pub fn acquire_lease(
        &mut self,
        keeper: KeeperId,
        now: Timestamp,
        lease: Duration,
    ) -> Option<Progress> {
        let leads = |until: Timestamp| now < until && until <= now + lease * 2;
        if self.led.is_some_and(|(leader, until)| leader != keeper && leads(until)) {
            return None;
        }
        self.led = Some((keeper, now + lease));
        Some(self.progress)
    }

    /// Whether `keeper` may replace these minutes: it holds the lease, and none of them is settled.
    pub fn may_replace(&self, keeper: KeeperId, minutes: Interval) -> bool {
        let settled = self.progress.settled;
        self.is_led_by(keeper) && settled.is_none_or(|settled| settled <= minutes.from)
    }

    /// Settles these minutes, if they follow the last settled one.
    pub fn settle(&mut self, keeper: KeeperId, minutes: Interval) -> bool {
        let follows = self.progress.settled.is_none_or(|settled| settled == minutes.from);
        let settles = self.is_led_by(keeper) && follows;
        if settles {
            self.progress.settled = Some(minutes.until);
        }
        settles
    }

    /// Records that the newest minutes show the state at `as_of`, if `keeper` has the lease.
    pub fn refresh(&mut self, keeper: KeeperId, as_of: Timestamp) -> bool {
        if self.is_led_by(keeper) {
            self.progress.as_of = Some(as_of);
        }
        self.is_led_by(keeper)
    }

    /// A keeper that lost the lease finds another keeper here. Until another one takes it, an expired lease
    /// still counts.
    fn is_led_by(&self, keeper: KeeperId) -> bool {
        self.led.is_some_and(|(leader, _)| leader == keeper)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(60);
    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn nobody_leads_for_as_long_as_a_clock_was_ahead() {
        let now = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        let keeper = |it: &str| it.parse::<KeeperId>().unwrap();
        let gone = keeper("00000000-0000-7000-8000-000000000001");
        let next = keeper("00000000-0000-7000-8000-000000000002");
        for (until, leads) in [
            (now, true),
            (now + MS, false),
            (now + LEASE, false),
            (now + LEASE * 2, false),
            (now + LEASE * 2 + MS, true),
            (now + LEASE * 60 * 24 * 40, true),
        ] {
            let mut figures_lease =
                FiguresLease { led: Some((gone, until)), ..FiguresLease::default() };
            assert_eq!(figures_lease.acquire_lease(next, now, LEASE).is_some(), leads, "{until}");
        }
    }
}
