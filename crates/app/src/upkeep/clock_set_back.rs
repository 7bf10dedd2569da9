use crate::CommonPorts;
use dwar_event::EventStore;
use dwar_kernel::{CLOCK_TOLERANCE, StoreError};
use dwar_otp::{KeptReceipt, OtpStore, ReceiptStore};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Corrects what was written while the wall clock was ahead, after the clock was set back and at every start:
/// sends, receipts and events that are due later than they can be. Otherwise they would wait for as long as
/// the clock was ahead.
///
/// Each gets a new lease from now on, because a worker may still be busy with it.
pub struct ClockSetBack {
    pub tools: CommonPorts,
    pub otps: Arc<dyn OtpStore>,
    pub receipts: Arc<dyn ReceiptStore>,
    pub events: Arc<dyn EventStore>,
    /// How long a send may be silent before another process considers it lost.
    pub lease: Duration,
    /// Longest time that a send waits for a receipt.
    pub longest_wait: Duration,
    /// Value of [`ClockWatch::times_set_back`](crate::ClockWatch::times_set_back) at the last correction.
    pub done: AtomicU64,
}

impl ClockSetBack {
    /// Makes the corrections and returns the number of rows. Does nothing if the clock was not set back since
    /// the last correction, or while it is too far off.
    pub async fn put_right(&self) -> Result<u64, StoreError> {
        let watch = &self.tools.watch;
        let times = watch.times_set_back();
        if watch.is_too_far_off() || self.done.load(Ordering::Relaxed) == times {
            return Ok(0);
        }
        let now = self.tools.now();
        let (soon, latest) = (now + self.lease, now + CLOCK_TOLERANCE);
        let longest = self.lease.max(self.longest_wait);
        let sends = self.otps.bring_forward(latest + longest, soon).await?;
        let longest = KeptReceipt::LONGEST_WAIT;
        let receipts = self.receipts.bring_forward(latest + longest, soon).await?;
        let events = self.events.bring_forward(now).await?;
        self.done.store(times, Ordering::Relaxed);
        if sends + receipts + events > 0 {
            tracing::warn!(
                sends,
                receipts,
                events,
                "the clock of this machine was set back: work that was due by the old time is \
                 due within a minute"
            );
        }
        Ok(sends + receipts + events)
    }
}
