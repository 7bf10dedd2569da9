use dwar_kernel::Timestamp;
use std::collections::VecDeque;

/// Receipts are counted in steps of five minutes.
const STEP: i64 = 300;
/// The latest three steps, ten to fifteen minutes, are compared ...
const RECENT: i64 = 3;
const PAST: i64 = 72;
/// With fewer receipts than this there is no verdict.
const FEWEST_RECENT: u32 = 40;
const FEWEST_PAST: u32 = 100;
const FEWEST_RECOVERED: u32 = FEWEST_RECENT / 2;
/// The share of failures has to rise by this much at least.
const RISE: f64 = 0.25;
/// And by this many standard deviations of chance among that many receipts.
const DEVIATIONS: f64 = 5.0;

/// How the receipts of one provider compare with its past. A pure rule over what it is told; 75
/// counts at most, however many receipts there are.
///
/// A provider is failing when the share of failures in the last quarter of an hour is far above
/// that of the six hours before: by 25 percentage points, and by five standard deviations. It
/// recovers when half of that rise is gone. Counts from the time it failed are not used as its
/// past.
#[derive(Clone, Debug, Default)]
pub struct ReceiptHealth {
    counts: VecDeque<Count>,
    /// The usual share of failures before it began to fail, and the share at which that is over.
    failing: Option<(f64, f64)>,
}

#[derive(Clone, Copy, Debug)]
struct Count {
    step: i64,
    failed: u32,
    receipts: u32,
    while_failing: bool,
}

/// A provider's receipts became worse, or recovered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HealthChange {
    pub failing: bool,
    /// How many of its recent receipts say that a message failed.
    pub failed: u32,
    pub receipts: u32,
    /// The usual share of failures, from 0 to 1.
    pub usual: f64,
}

impl ReceiptHealth {
    /// Counts one receipt; gives a change, once.
    pub fn note(&mut self, failed: bool, now: Timestamp) -> Option<HealthChange> {
        // A clock that went backwards counts into the newest step.
        let newest = self.counts.back().map_or(i64::MIN, |count| count.step);
        let step = now.timestamp().div_euclid(STEP).max(newest);
        self.count(failed, step);
        let (failed, receipts) = self.sum(|count| count.step > step - RECENT);
        match self.failing {
            None => self.begins(failed, receipts, step),
            Some((usual, over_at)) => {
                let over = receipts >= FEWEST_RECOVERED && share(failed, receipts) <= over_at;
                over.then(|| {
                    self.failing = None;
                    HealthChange { failing: false, failed, receipts, usual }
                })
            }
        }
    }

    fn count(&mut self, failed: bool, step: i64) {
        while self.counts.front().is_some_and(|count| count.step <= step - RECENT - PAST) {
            self.counts.pop_front();
        }
        let while_failing = self.failing.is_some();
        let fresh = Count { step, failed: 0, receipts: 0, while_failing };
        if self.counts.back().is_none_or(|count| count.step < step) {
            self.counts.push_back(fresh);
        }
        if let Some(count) = self.counts.back_mut() {
            count.receipts = count.receipts.saturating_add(1);
            count.failed = count.failed.saturating_add(u32::from(failed));
            count.while_failing |= while_failing;
        }
    }

    fn begins(&mut self, failed: u32, receipts: u32, step: i64) -> Option<HealthChange> {
        let (past_failed, past) =
            self.sum(|count| count.step <= step - RECENT && !count.while_failing);
        if receipts < FEWEST_RECENT || past < FEWEST_PAST {
            return None;
        }
        let usual = share(past_failed, past);
        let chance = (usual * (1.0 - usual) / f64::from(receipts)).sqrt();
        let rise = RISE.max(DEVIATIONS * chance);
        if share(failed, receipts) < usual + rise {
            return None;
        }
        self.failing = Some((usual, usual + rise / 2.0));
        for count in self.counts.iter_mut().filter(|count| count.step > step - RECENT) {
            count.while_failing = true;
        }
        Some(HealthChange { failing: true, failed, receipts, usual })
    }

    fn sum(&self, which: impl Fn(&Count) -> bool) -> (u32, u32) {
        let counts = self.counts.iter().filter(|count| which(count));
        counts.fold((0, 0), |(failed, receipts), count| {
            (failed.saturating_add(count.failed), receipts.saturating_add(count.receipts))
        })
    }
}

fn share(failed: u32, receipts: u32) -> f64 {
    f64::from(failed) / f64::from(receipts.max(1))
}

#[cfg(test)]
#[path = "receipt_health_tests.rs"]
mod tests;
