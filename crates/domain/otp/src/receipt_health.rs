use dwar_kernel::Timestamp;
use std::collections::VecDeque;

/// Seconds per step: receipts are counted in steps of five minutes.
const STEP: i64 = 300;
/// Number of latest steps (10 to 15 minutes) that are compared with the past.
const RECENT: i64 = 3;
const PAST: i64 = 72;
/// No verdict with fewer receipts than this.
const FEWEST_RECENT: u32 = 40;
const FEWEST_PAST: u32 = 100;
const FEWEST_RECOVERED: u32 = FEWEST_RECENT / 2;
/// A provider is failing if its share of failures rose by at least this, and by at least [`DEVIATIONS`].
const RISE: f64 = 0.25;
/// Least rise of a failing provider, in standard deviations for its number of recent receipts.
const DEVIATIONS: f64 = 5.0;

/// Compares the recent receipts of one provider with its past. A pure rule over at most 75 counts, however
/// many receipts arrive.
///
/// A provider is failing when the share of failures in the last quarter of an hour is far above that of the
/// six hours before: by 25 percentage points, and by five standard deviations. It recovers when half of that
/// rise is gone. Receipts counted while it was failing do not count as its past.
#[derive(Clone, Debug, Default)]
pub struct ReceiptHealth {
    counts: VecDeque<ReceiptCount>,
    /// Usual share of failures before the provider began to fail, and the share at which it has recovered.
    failing: Option<(f64, f64)>,
}

#[derive(Clone, Copy, Debug)]
struct ReceiptCount {
    step: i64,
    failed: u32,
    receipts: u32,
    while_failing: bool,
}

/// A provider began to fail, or has recovered; with the receipts that show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HealthChange {
    pub failing: bool,
    /// Number of recent receipts that report a failure.
    pub failed: u32,
    pub receipts: u32,
    /// Usual share of failures, from 0 to 1.
    pub usual: f64,
}

impl ReceiptHealth {
    /// Counts one receipt. Returns a change when the provider begins to fail, and when it has recovered.
    pub fn note(&mut self, failed: bool, now: Timestamp) -> Option<HealthChange> {
        // If the clock was set back, the receipt counts in the newest step.
        let newest = self.counts.back().map_or(i64::MIN, |count| count.step);
        let step = now.timestamp().div_euclid(STEP).max(newest);
        self.count(failed, step);
        let (failed, receipts) = self.sum(|count| count.step > step - RECENT);
        match self.failing {
            None => self.begins(failed, receipts, step),
            Some((usual, recovered_at)) => {
                let recovered =
                    receipts >= FEWEST_RECOVERED && share(failed, receipts) <= recovered_at;
                recovered.then(|| {
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
        let fresh = ReceiptCount { step, failed: 0, receipts: 0, while_failing };
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
        let deviation = (usual * (1.0 - usual) / f64::from(receipts)).sqrt();
        let rise = RISE.max(DEVIATIONS * deviation);
        if share(failed, receipts) < usual + rise {
            return None;
        }
        self.failing = Some((usual, usual + rise / 2.0));
        for count in self.counts.iter_mut().filter(|count| count.step > step - RECENT) {
            count.while_failing = true;
        }
        Some(HealthChange { failing: true, failed, receipts, usual })
    }

    fn sum(&self, which: impl Fn(&ReceiptCount) -> bool) -> (u32, u32) {
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
