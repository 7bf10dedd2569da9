use dwar_kernel::{CLOCK_TOLERANCE, Clock, SteadyClock, Timestamp};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A difference between clocks that people are told of, in milliseconds.
const TOLD_MS: i64 = 2_000;

/// Watches the wall clock of this machine: compares it with the database's, where that is another one, and with the
/// time that went by since the start.
///
/// - Between two comparisons the difference from the database goes on by the steady clock, so that a wall clock that is
///   set is noticed at once and not at the next comparison.
/// - Sweeps ask [`ClockWatch::for_sweeps`], which never goes on faster than the time went by. Where the wall clock was set
///   forward it stays that far behind until the process ends: nobody here can know which of the two was right. A
///   machine that was suspended is none whose clock was set.
/// - What the wall clock wrote while it was ahead is put right by [`crate::ClockSetBack`] once it was set back, which
///   [`ClockWatch::times_set_back`] tells.
///
/// From [`CLOCK_TOLERANCE`] on an instance serves no request and does no background work that goes by the time. Both
/// differences are logged once, when they begin to matter (2 s, 30 s) and when they no longer do.
pub struct ClockWatch {
    clock: Arc<dyn Clock>,
    steady: Arc<dyn SteadyClock>,
    kept: Mutex<Kept>,
}

/// One moment, by both clocks of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    wall: Timestamp,
    steady: Duration,
}

struct Kept {
    /// When the clocks were last looked at.
    seen: Moment,
    sweeps: Timestamp,
    compared: Option<Comparison>,
    agreement: Agreement,
    times_set_back: u64,
}

#[derive(Clone, Copy)]
struct Comparison {
    at: Moment,
    /// By how many milliseconds the wall clock was ahead of the database's; negative if it was behind.
    ahead_ms: i64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Agreement {
    Agrees,
    Differs,
    TooFar,
}

impl Moment {
    /// By how many milliseconds the wall clock was set forward since `earlier`; negative if it was set back.
    fn set_since(self, earlier: Self) -> i64 {
        let went = self.steady.saturating_sub(earlier.steady);
        (self.wall - earlier.wall).num_milliseconds() - whole_ms(went)
    }

    /// By how many milliseconds at least the wall clock is ahead of the database's, whose clock showed `database` at
    /// some instant between `asked` and this moment; negative if it is behind, 0 if they may agree.
    fn ahead_of(self, database: Timestamp, asked: Self) -> i64 {
        let earliest = self.wall - self.steady.saturating_sub(asked.steady);
        let nearest = database.clamp(earliest.min(self.wall), self.wall);
        (nearest - database).num_milliseconds()
    }
}

impl Comparison {
    /// The difference at a later moment, if the database's clock went on as the steady one did.
    fn ahead_at(self, moment: Moment) -> i64 {
        self.ahead_ms.saturating_add(moment.set_since(self.at))
    }
}

impl Agreement {
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

impl Kept {
    /// Takes note of this moment; tells the log of a wall clock that was set, and of one that agrees or no longer does.
    fn note(&mut self, moment: Moment) {
        let set_ms = moment.set_since(self.seen);
        let went = moment.steady.saturating_sub(self.seen.steady);
        self.sweeps = moment.wall.min(self.sweeps + went);
        self.seen = moment;
        self.times_set_back += u64::from(set_ms <= -TOLD_MS);
        if set_ms.saturating_abs() >= TOLD_MS {
            tracing::warn!(
                set_ms,
                "the clock of this machine was set; sweeps go by the time that went by"
            );
        }
        let Some(ahead_ms) = self.compared.map(|it| it.ahead_at(moment)) else { return };
        let agreement = Agreement::of(ahead_ms);
        if agreement == std::mem::replace(&mut self.agreement, agreement) {
            return;
        }
        match agreement {
            Agreement::Agrees => {
                tracing::info!(ahead_ms, "the clock of this machine agrees with the database's");
            }
            Agreement::Differs => {
                tracing::warn!(ahead_ms, "the clock of this machine differs from the database's");
            }
            Agreement::TooFar => tracing::error!(
                ahead_ms,
                "the clock of this machine differs from the database's by 30 s or more: until they agree, no request \
                 is served here and nothing is swept"
            ),
        }
    }
}

impl ClockWatch {
    /// One that has compared nothing yet.
    pub fn new(clock: Arc<dyn Clock>, steady: Arc<dyn SteadyClock>) -> Self {
        let seen = Moment { wall: clock.now(), steady: steady.elapsed() };
        let kept = Kept {
            seen,
            sweeps: seen.wall,
            compared: None,
            agreement: Agreement::Agrees,
            // Nobody knows what was done to it before.
            times_set_back: 1,
        };
        Self { clock, steady, kept: Mutex::new(kept) }
    }

    /// This moment, for [`ClockWatch::compare`].
    pub fn moment(&self) -> Moment {
        Moment { wall: self.clock.now(), steady: self.steady.elapsed() }
    }

    /// Compares with what the database's clock showed at some instant since `asked`. The longer that is ago, the less a
    /// difference is noticed.
    pub fn compare(&self, asked: Moment, database: Timestamp) {
        let at = self.moment();
        let ahead_ms = at.ahead_of(database, asked);
        let mut kept = self.kept();
        kept.compared = Some(Comparison { at, ahead_ms });
        kept.note(at);
    }

    /// Looks at the clocks; `true` if the wall clock was set by 2 s or more since it was compared, so that it should be
    /// compared again.
    pub fn look(&self) -> bool {
        let (moment, mut kept) = (self.moment(), self.kept());
        kept.note(moment);
        kept.compared.is_some_and(|it| moment.set_since(it.at).saturating_abs() >= TOLD_MS)
    }

    /// By how many milliseconds the wall clock is ahead of the database's, negative if it is behind; `None` if nothing was
    /// compared, as where the database has no clock of its own.
    pub fn ahead_ms(&self) -> Option<i64> {
        let compared = self.kept().compared;
        compared.map(|it| it.ahead_at(self.moment()))
    }

    /// Whether the wall clock differs from the database's by 30 s or more.
    pub fn is_too_far_off(&self) -> bool {
        self.ahead_ms().is_some_and(|ahead| Agreement::of(ahead) == Agreement::TooFar)
    }

    /// The present instant by the clock that all instances share: the database's, or this machine's if it has none.
    pub fn shared_now(&self) -> Timestamp {
        let now = self.clock.now();
        let ahead = self.ahead_ms().unwrap_or_default();
        let by = Duration::from_millis(ahead.unsigned_abs());
        if ahead < 0 { now + by } else { now - by }
    }

    /// How often the wall clock was set back by 2 s or more; the start counts as once.
    pub fn times_set_back(&self) -> u64 {
        let (moment, mut kept) = (self.moment(), self.kept());
        kept.note(moment);
        kept.times_set_back
    }

    /// What sweeps have to take for the present instant: never later than it is, and no later after a while than that while
    /// later.
    pub fn for_sweeps(&self) -> Timestamp {
        let (moment, mut kept) = (self.moment(), self.kept());
        kept.note(moment);
        kept.sweeps
    }

    /// By how much sweeps are behind the wall clock, since it was set forward.
    pub fn sweeps_behind(&self) -> Duration {
        let sweeps = self.for_sweeps();
        (self.clock.now() - sweeps).to_std().unwrap_or_default()
    }

    /// What is wrong with the clock, from 2 s on, in a sentence; `None` if nothing is.
    pub fn trouble(&self) -> Option<String> {
        let ahead = self.ahead_ms().unwrap_or_default();
        if Agreement::of(ahead) != Agreement::Agrees {
            let (by, side) = (seconds(ahead), if ahead < 0 { "behind" } else { "ahead of" });
            return Some(format!("the clock of this machine is {by} s {side} the database's"));
        }
        let behind = whole_ms(self.sweeps_behind());
        (behind >= TOLD_MS).then(|| {
            let by = seconds(behind);
            format!("the clock of this machine was set forward by {by} s; sweeps leave that time out until a restart")
        })
    }

    /// Nothing panics in there; if it did, what was kept would still be good.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn whole_ms(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Whole seconds, rounded up so that a bound that is reached is never told as less.
const fn seconds(ms: i64) -> u64 {
    ms.unsigned_abs().div_ceil(1_000)
}
