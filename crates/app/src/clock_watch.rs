use dwar_kernel::{CLOCK_TOLERANCE, Clock, SteadyClock, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Least difference between clocks that is reported, in milliseconds.
const TOLD_MS: i64 = 2_000;

/// Watches the wall clock of this machine: compares it with the clock of the database, if that is another one,
/// and with the time that has passed since the start.
///
/// - Between two comparisons the difference is extrapolated by the steady clock, so that a wall clock that is
///   set is noticed at once and not only at the next comparison.
/// - Sweeps use [`ClockWatch::for_sweeps`], which never advances faster than time passes. If the wall clock is
///   set forward, that clock stays behind by the same amount until the process ends: it is unknown which of the
///   two times was right. Suspending the machine does not count as setting its clock.
/// - What was written while the wall clock was ahead is corrected by [`crate::ClockSetBack`] after the clock was
///   set back, which [`ClockWatch::times_set_back`] reports.
///
/// From a difference of [`CLOCK_TOLERANCE`] on, an instance serves no request and does no background work that
/// depends on the time. Both differences are logged once, when they begin to matter (2 s, 30 s) and when they no
/// longer do.
pub struct ClockWatch {
    clock: Arc<dyn Clock>,
    steady: Arc<dyn SteadyClock>,
    kept: Mutex<ClockRecord>,
}

/// One moment, read from both clocks of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    wall: Timestamp,
    steady: Duration,
}

struct ClockRecord {
    seen: ClockReading,
    sweeps: Timestamp,
    compared: Option<ClockComparison>,
    agreement: ClockAgreement,
    times_set_back: u64,
}

#[derive(Clone, Copy)]
struct ClockComparison {
    at: ClockReading,
    /// Milliseconds by which the wall clock was ahead of the database's; negative if it was behind.
    ahead_ms: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClockAgreement {
    Agrees,
    Differs,
    TooFar,
}

impl ClockReading {
    /// Milliseconds by which the wall clock was set forward since `earlier`; negative if it was set back.
    fn set_since(self, earlier: Self) -> i64 {
        let went = self.steady.saturating_sub(earlier.steady);
        (self.wall - earlier.wall).num_milliseconds() - whole_ms(went)
    }

    /// Milliseconds by which the wall clock is at least ahead of the database's, whose clock showed
    /// `database` at some instant between `asked` and this moment; negative if it is behind, 0 if they may
    /// agree.
    fn ahead_of(self, database: Timestamp, asked: Self) -> i64 {
        let earliest = self.wall - self.steady.saturating_sub(asked.steady);
        let nearest = database.clamp(earliest.min(self.wall), self.wall);
        (nearest - database).num_milliseconds()
    }
}

impl ClockComparison {
    /// The difference at a later moment, assuming that the database's clock ran like the steady one.
    fn ahead_at(self, moment: ClockReading) -> i64 {
        self.ahead_ms.saturating_add(moment.set_since(self.at))
    }
}

impl ClockAgreement {
    fn of(ahead_ms: i64) -> Self {
        if ahead_ms.saturating_abs() < TOLD_MS {
            Self::Agrees
        } else if u128::from(ahead_ms.unsigned_abs()) < CLOCK_TOLERANCE.as_millis() {
            Self::Differs
        } else {
            Self::TooFar
        }
    }
}

impl ClockRecord {
    /// Records this moment, and logs if the wall clock was set, or if it began or ceased to agree with the
    /// database's.
    fn note(&mut self, moment: ClockReading) {
        let set_ms = moment.set_since(self.seen);
        let went = moment.steady.saturating_sub(self.seen.steady);
        self.sweeps = moment.wall.min(self.sweeps + went);
        self.seen = moment;
        self.times_set_back += u64::from(set_ms <= -TOLD_MS);
        if set_ms.saturating_abs() >= TOLD_MS {
            tracing::warn!(
                set_ms,
                "the clock of this machine was set; sweeps use the elapsed time"
            );
        }
        let Some(ahead_ms) = self.compared.map(|it| it.ahead_at(moment)) else { return };
        let agreement = ClockAgreement::of(ahead_ms);
        if agreement == std::mem::replace(&mut self.agreement, agreement) {
            return;
        }
        match agreement {
            ClockAgreement::Agrees => {
                tracing::info!(ahead_ms, "the clock of this machine agrees with the database's");
            }
            ClockAgreement::Differs => {
                tracing::warn!(ahead_ms, "the clock of this machine differs from the database's");
            }
            ClockAgreement::TooFar => tracing::error!(
                ahead_ms,
                "the clock of this machine differs from the database's by 30 s or more: until they agree, no request \
                 is served here and nothing is swept"
            ),
        }
    }
}

impl ClockWatch {
    /// A watch without any comparison, so that it reports no difference yet.
    pub fn new(clock: Arc<dyn Clock>, steady: Arc<dyn SteadyClock>) -> Self {
        let seen = ClockReading { wall: clock.now(), steady: steady.elapsed() };
        let kept = ClockRecord {
            seen,
            sweeps: seen.wall,
            compared: None,
            agreement: ClockAgreement::Agrees,
            // The clock may have been set back before the start.
            times_set_back: 1,
        };
        Self { clock, steady, kept: Mutex::new(kept) }
    }

    /// The present moment, to be passed to [`ClockWatch::compare`] after the database has answered.
    pub fn moment(&self) -> ClockReading {
        ClockReading { wall: self.clock.now(), steady: self.steady.elapsed() }
    }

    /// Compares with the time that the database's clock showed at some instant since `asked`. The longer ago
    /// that is, the larger a difference has to be to be noticed.
    pub fn compare(&self, asked: ClockReading, database: Timestamp) {
        let at = self.moment();
        let ahead_ms = at.ahead_of(database, asked);
        let mut kept = self.kept();
        kept.compared = Some(ClockComparison { at, ahead_ms });
        kept.note(at);
    }

    /// Reads the clocks; `true` if the wall clock was set by 2 s or more since the last comparison, so that
    /// it should be compared again.
    pub fn look(&self) -> bool {
        let (moment, mut kept) = (self.moment(), self.kept());
        kept.note(moment);
        kept.compared.is_some_and(|it| moment.set_since(it.at).saturating_abs() >= TOLD_MS)
    }

    /// Milliseconds by which the wall clock is ahead of the database's, negative if it is behind; `None` if
    /// nothing was compared, for example because the database has no clock of its own.
    pub fn ahead_ms(&self) -> Option<i64> {
        let compared = self.kept().compared;
        compared.map(|it| it.ahead_at(self.moment()))
    }

    /// Whether the wall clock differs from the database's by 30 s or more.
    pub fn is_too_far_off(&self) -> bool {
        self.ahead_ms().is_some_and(|ahead| ClockAgreement::of(ahead) == ClockAgreement::TooFar)
    }

    /// The present instant by the clock that all instances share: the database's, or this machine's if the
    /// database has none.
    pub fn shared_now(&self) -> Timestamp {
        let now = self.clock.now();
        let ahead = self.ahead_ms().unwrap_or_default();
        let by = Duration::from_millis(ahead.unsigned_abs());
        if ahead < 0 { now + by } else { now - by }
    }

    /// How many times the wall clock was set back by 2 s or more; the start counts as one.
    pub fn times_set_back(&self) -> u64 {
        let (moment, mut kept) = (self.moment(), self.kept());
        kept.note(moment);
        kept.times_set_back
    }

    /// The present instant for sweeps: never later than the wall clock, and never advancing faster than time
    /// passes.
    pub fn for_sweeps(&self) -> Timestamp {
        let (moment, mut kept) = (self.moment(), self.kept());
        kept.note(moment);
        kept.sweeps
    }

    /// How far the clock of sweeps is behind the wall clock, because that was set forward.
    pub fn sweeps_behind(&self) -> Duration {
        let sweeps = self.for_sweeps();
        (self.clock.now() - sweeps).to_std().unwrap_or_default()
    }

    /// A problem of the clock, from 2 s on, in a sentence; `None` if there is none.
    pub fn trouble(&self) -> Option<String> {
        let ahead = self.ahead_ms().unwrap_or_default();
        if ClockAgreement::of(ahead) != ClockAgreement::Agrees {
            let (by, side) = (seconds(ahead), if ahead < 0 { "behind" } else { "ahead of" });
            return Some(format!("the clock of this machine is {by} s {side} the database's"));
        }
        let behind = whole_ms(self.sweeps_behind());
        (behind >= TOLD_MS).then(|| {
            let by = seconds(behind);
            format!("the clock of this machine was set forward by {by} s; sweeps leave that time out until a restart")
        })
    }

    /// Nothing panics while the lock is held; if it did, the values would still be valid.
    fn kept(&self) -> MutexGuard<'_, ClockRecord> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn whole_ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Whole seconds, rounded up so that a reached bound is never reported as less.
const fn seconds(ms: i64) -> u64 {
    ms.unsigned_abs().div_ceil(1_000)
}
