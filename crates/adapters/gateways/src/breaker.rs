use async_trait::async_trait;
use dwar_otp::{Gateway, Message, Outcome, Reason};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// First pause for a provider that keeps failing: an outage of seconds costs one pause.
const COOL_DOWN: Duration = Duration::from_secs(15);
/// Longest pause after repeated doubling: an outage of minutes costs one probe every four minutes.
const LONGEST_COOL_DOWN: Duration = Duration::from_secs(240);

/// The state of a provider's circuit breaker in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BreakerState {
    /// How long no call is made; `None` while calls are made.
    pub open_for: Option<Duration>,
    /// Number of counted latest calls, 128 at most.
    pub calls: u32,
    /// Number of these that failed by a fault of the provider.
    pub faults: u32,
}

/// Consecutive calls that the provider did not accept for a reason that is not about the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultRow {
    pub faults: u32,
    pub age: Duration,
    pub reason: Reason,
}

/// A circuit breaker: stops calling a provider that keeps failing, so that the next provider of the
/// route is tried without a wait.
///
/// It counts consecutive faults of the provider: [`Reason::ProviderUnavailable`], `Timeout`,
/// `ProviderAuth`, `ProviderThrottled` and `Unknown`. Any other answer proves that the provider
/// works and resets the count. That includes faults of a number (`NotOnChannel`, `RejectedNumber`,
/// `Blocked`), `TemplateRejected`, because a template may be one project's own, and
/// `ProviderRefused`, whose reason may be either. One project, or one caller with odd numbers, must
/// not cut off the others.
///
/// While the breaker is open, calls are refused at once with [`Reason::ProviderUnavailable`]. After
/// the cool-down exactly one call is made. If it fails too, the next cool-down is twice as long.
///
/// If a provider asks not to be called for a while ([`Outcome::Busy`]), calls are refused in the
/// same way until then. Afterwards they are made again without a probe.
///
/// It wraps [`TimedGateway`](crate::TimedGateway), which turns silence into `Timeout`. A call that
/// is dropped half-way is not counted, because its caller went away. A dropped probe lets another
/// one start at once.
pub struct BreakerGateway {
    inner: Arc<dyn Gateway>,
    most_faults: u32,
    clock: Arc<dyn Fn() -> Instant + Send + Sync>,
    circuit: Mutex<Circuit>,
    row: Mutex<Option<(Instant, FaultRow)>>,
}

impl BreakerGateway {
    /// Guards `inner`, which is not called for a while after this many consecutive faults; 0 counts
    /// as 1. Uses the system's monotonic clock.
    pub fn new(inner: Arc<dyn Gateway>, most_faults: u32) -> Self {
        let circuit = Circuit {
            phase: Phase::Closed { faults: 0 },
            cool_down: COOL_DOWN,
            rests_until: None,
            epoch: 0,
            calls: 0,
            recent: 0,
        };
        Self {
            inner,
            most_faults,
            clock: Arc::new(Instant::now),
            circuit: Mutex::new(circuit),
            row: Mutex::default(),
        }
    }

    /// The failed calls since the provider last accepted a message or answered for a number; `None`
    /// if there are none.
    pub fn fault_row(&self) -> Option<FaultRow> {
        let (now, row) = ((self.clock)(), *self.row());
        row.map(|(began, row)| FaultRow { age: now.saturating_duration_since(began), ..row })
    }

    /// Counts the outcome of a call for [`BreakerGateway::fault_row`].
    fn note(&self, outcome: &Outcome) {
        let (now, mut row) = ((self.clock)(), self.row());
        *row = match outcome {
            Outcome::Refused(reason) | Outcome::Busy(reason, _)
                if !reason.is_about_the_number() =>
            {
                let (began, faults) = row.map_or((now, 0), |(began, row)| (began, row.faults));
                let faults = faults.saturating_add(1);
                Some((began, FaultRow { faults, age: Duration::ZERO, reason: *reason }))
            }
            Outcome::Accepted { .. } | Outcome::Refused(_) | Outcome::Busy(..) => None,
        };
    }

    fn row(&self) -> MutexGuard<'_, Option<(Instant, FaultRow)>> {
        self.row.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The current state of the breaker, for pages and metrics.
    pub fn state(&self) -> BreakerState {
        let (now, circuit) = ((self.clock)(), self.circuit());
        let open_for = match circuit.phase {
            Phase::Closed { .. } => None,
            Phase::HalfOpen => Some(Duration::ZERO),
            Phase::Open { until } => Some(until.saturating_duration_since(now)),
        };
        let open_for = open_for.max(circuit.rests_for(now));
        BreakerState { open_for, calls: circuit.calls, faults: circuit.recent.count_ones() }
    }

    /// Ends a pause: the next call is made. If it fails too, the next pause is twice as long.
    pub fn end_pause(&self) {
        self.circuit().end_pause((self.clock)());
    }

    fn circuit(&self) -> MutexGuard<'_, Circuit> {
        self.circuit.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn rest(&self, rest: Duration) {
        let now = (self.clock)();
        if self.circuit().rest(rest, now) {
            let (provider, seconds) = (self.inner.provider(), rest.as_secs());
            tracing::warn!(
                provider,
                seconds,
                "the provider asks for a pause; no calls to it until then"
            );
        }
    }

    fn admit(&self) -> Option<CallGuard<'_>> {
        let epoch = self.circuit().admit((self.clock)())?;
        Some(CallGuard { breaker: self, epoch })
    }
}

#[async_trait]
impl Gateway for BreakerGateway {
    fn provider(&self) -> String {
        self.inner.provider()
    }

    async fn deliver(&self, message: Message) -> Outcome {
        let Some(pass) = self.admit() else {
            return Outcome::Refused(Reason::ProviderUnavailable);
        };
        let outcome = self.inner.deliver(message).await;
        if let Outcome::Busy(_, rest) = outcome {
            self.rest(rest);
        }
        self.note(&outcome);
        pass.settle(!is_fault(&outcome));
        outcome
    }
}

const fn is_fault(outcome: &Outcome) -> bool {
    let (Outcome::Refused(reason) | Outcome::Busy(reason, _)) = outcome else { return false };
    match reason {
        Reason::ProviderUnavailable
        | Reason::Timeout
        | Reason::ProviderAuth
        | Reason::ProviderThrottled
        | Reason::Unknown => true,
        Reason::NotOnChannel
        | Reason::RejectedNumber
        | Reason::Blocked
        | Reason::TemplateRejected
        | Reason::ProviderRefused => false,
    }
}

struct CallGuard<'breaker> {
    breaker: &'breaker BreakerGateway,
    epoch: u64,
}

impl CallGuard<'_> {
    fn settle(self, healthy: bool) {
        let BreakerGateway { inner, most_faults, clock, .. } = self.breaker;
        let change = self.breaker.circuit().settle(self.epoch, healthy, clock(), *most_faults);
        let provider = || inner.provider();
        match change {
            Transition::None => {}
            Transition::Opened(cool_down) => tracing::warn!(
                provider = provider(),
                seconds = cool_down.as_secs_f32(),
                "the provider keeps failing; no calls to it for a while"
            ),
            Transition::Closed => tracing::warn!(provider = provider(), "the provider works again"),
        }
    }
}

impl Drop for CallGuard<'_> {
    /// After [`CallGuard::settle`] the epoch is over or the breaker closed, so this does nothing.
    fn drop(&mut self) {
        self.breaker.circuit().abandon(self.epoch, (self.breaker.clock)());
    }
}

enum Phase {
    Closed { faults: u32 },
    Open { until: Instant },
    HalfOpen,
}

enum Transition {
    None,
    Opened(Duration),
    Closed,
}

struct Circuit {
    phase: Phase,
    cool_down: Duration,
    /// Until when the provider asked for no calls; in the past if it did not, or the pause has
    /// ended.
    rests_until: Option<Instant>,
    /// Incremented with each change of phase, so that a late result of an earlier phase is ignored.
    epoch: u64,
    /// Number of calls in `recent`.
    calls: u32,
    /// Whether each of the latest calls failed; the last call is the lowest bit.
    recent: u128,
}

impl Circuit {
    fn admit(&mut self, now: Instant) -> Option<u64> {
        if self.rests_for(now).is_some() {
            return None;
        }
        match self.phase {
            Phase::Closed { .. } => Some(self.epoch),
            Phase::Open { until } if now >= until => {
                self.enter(Phase::HalfOpen);
                Some(self.epoch)
            }
            Phase::Open { .. } | Phase::HalfOpen => None,
        }
    }

    /// Records that the provider asks not to be called. Returns whether it was called until now.
    fn rest(&mut self, rest: Duration, now: Instant) -> bool {
        let begins = self.rests_for(now).is_none();
        self.rests_until = self.rests_until.max(Some(now + rest));
        begins
    }

    /// The rest of the time in which the provider asked not to be called.
    fn rests_for(&self, now: Instant) -> Option<Duration> {
        let rest = self.rests_until?.saturating_duration_since(now);
        (!rest.is_zero()).then_some(rest)
    }

    fn settle(&mut self, epoch: u64, healthy: bool, now: Instant, most_faults: u32) -> Transition {
        self.calls = (self.calls + 1).min(u128::BITS);
        self.recent = self.recent << 1 | u128::from(!healthy);
        if epoch != self.epoch {
            return Transition::None;
        }
        match (&mut self.phase, healthy) {
            (Phase::Closed { faults }, true) => {
                *faults = 0;
                Transition::None
            }
            (Phase::Closed { faults }, false) => {
                *faults += 1;
                if *faults < most_faults {
                    return Transition::None;
                }
                self.open(COOL_DOWN, now)
            }
            (Phase::HalfOpen, false) => {
                let longer = self.cool_down.saturating_mul(2).min(LONGEST_COOL_DOWN);
                self.open(longer, now)
            }
            (Phase::HalfOpen, true) => {
                self.enter(Phase::Closed { faults: 0 });
                Transition::Closed
            }
            (Phase::Open { .. }, _) => Transition::None,
        }
    }

    fn end_pause(&mut self, now: Instant) {
        self.rests_until = None;
        if let Phase::Open { until } = &mut self.phase {
            *until = now;
        }
    }

    fn abandon(&mut self, epoch: u64, now: Instant) {
        if epoch == self.epoch && matches!(self.phase, Phase::HalfOpen) {
            self.enter(Phase::Open { until: now });
        }
    }

    fn open(&mut self, cool_down: Duration, now: Instant) -> Transition {
        self.cool_down = cool_down;
        self.enter(Phase::Open { until: now + cool_down });
        Transition::Opened(cool_down)
    }

    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.epoch = self.epoch.wrapping_add(1);
    }
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;
