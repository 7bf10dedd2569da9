//! The measurements of a contestant, one after another.

use crate::Outcome;
use crate::clients::{LogIns, LogOuts, Readers, Refreshers, Senders, Users, Validators, Verifiers};
use crate::contestant::Running;
use crate::load::{Client, Sample, drive};
use crate::warm::{WINDOW, Warmth, warm};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// Number of sessions that each client ends.
const LOGOUTS: usize = 100;

/// Longer than any phase.
const HOUR: Duration = Duration::from_secs(3_600);

/// One kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    KeySet,
    /// A code is sent to a phone and entered; two requests.
    Login,
    /// The first half of a login.
    Send,
    /// The second half.
    Verify,
    /// One session is validated repeatedly.
    ValidateOne,
    /// [`Load::sessions`] sessions are validated in turn.
    ValidateMany,
    /// A token pair is exchanged for the next.
    Refresh,
    Logout,
}

/// The amount of load.
#[derive(Clone, Copy)]
pub struct Load {
    /// Number of concurrent connections.
    pub clients: usize,
    /// Measured time of each phase, once it is warm.
    pub time: Duration,
    /// Shortest warm-up of each phase.
    pub warm_up: Duration,
    /// Number of sessions of [`Phase::ValidateMany`].
    pub sessions: usize,
}

/// The result of one phase in one round.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Figures {
    /// Requests a second; logins, if they take two requests.
    pub rate: f64,
    pub p50_ms: f64,
    pub p99_ms: f64,
    /// Processor time of the service for a thousand requests, in milliseconds.
    pub service_cpu_ms: f64,
    /// Processor time of PostgreSQL for a thousand requests, in milliseconds.
    pub database_cpu_ms: f64,
    pub resident_mib: f64,
    pub warmth: Warmth,
}

impl Phase {
    /// All phases in the order of measurement: later ones use the sessions of earlier ones.
    pub const ALL: [Self; 8] = [
        Self::KeySet,
        Self::Login,
        Self::Send,
        Self::Verify,
        Self::ValidateOne,
        Self::ValidateMany,
        Self::Refresh,
        Self::Logout,
    ];

    /// The name in the tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::KeySet => "key set",
            Self::Login => "login (send and verify)",
            Self::Send => "send",
            Self::Verify => "verify",
            Self::ValidateOne => "validate, one session",
            Self::ValidateMany => "validate, many sessions",
            Self::Refresh => "refresh",
            Self::Logout => "logout",
        }
    }

    /// Tells whether the peer lacks this kind of request.
    const fn is_ours_alone(self) -> bool {
        matches!(self, Self::KeySet | Self::Refresh)
    }

    /// Tells whether the floor answers it: only requests that change nothing.
    const fn has_floor(self) -> bool {
        matches!(self, Self::KeySet | Self::ValidateOne | Self::ValidateMany)
    }

    /// Measures the phase; `None` if this contestant lacks it.
    pub fn measure(self, running: &Running<'_>, load: Load) -> Outcome<Option<Figures>> {
        let (users, real) = (running.users(), !running.is_floor());
        if (self.is_ours_alone() && running.is_peer()) || (!real && !self.has_floor()) {
            return Ok(None);
        }
        let clients = load.clients;
        let many = || 0..clients;
        match self {
            Self::KeySet => {
                let request = users.key_set().ok_or("no key set")?;
                self.run(running, load, || many().map(|_| Readers(request.clone())).collect())
            }
            Self::Login => self.run(running, load, || log_ins(users, usize::MAX, clients)),
            Self::Send => self.run(running, load, || many().map(|_| Senders::new(users)).collect()),
            Self::Verify => {
                self.run(running, load, || many().map(|_| Verifiers(Arc::clone(users))).collect())
            }
            Self::ValidateOne => {
                self.run(running, load, || Validators::new(users, 1, clients, real))
            }
            Self::ValidateMany => {
                if real {
                    log_in(running, load.sessions, clients)?;
                }
                let most = load.sessions.max(1);
                self.run(running, load, || Validators::new(users, most, clients, real))
            }
            Self::Refresh => self.run(running, load, || Refreshers::new(users, clients)),
            Self::Logout => {
                // Sessions from before stay, for other phases and for the floor.
                let before = users.logged_in();
                log_in(running, before + clients * LOGOUTS, clients)?;
                self.run(running, load, || many().map(|_| LogOuts::new(users, before)).collect())
            }
        }
        .map(Some)
    }

    fn run<C: Client>(
        self,
        running: &Running<'_>,
        load: Load,
        clients: impl Fn() -> Vec<C>,
    ) -> Outcome<Figures> {
        let rate = |sample: &Sample| self.done(sample) / sample.took.as_secs_f64();
        // Verifying and logging out end what other phases began, and logins have warmed both.
        let warmth = match self {
            Self::Verify | Self::Logout => Warmth { seconds: 0, steady: true },
            _ => {
                warm(load.warm_up, || Ok(rate(&drive(running.addresses(), clients(), WINDOW)?.0)))?
            }
        };
        let meter = running.meter();
        let before = meter.spent()?;
        let (sample, _) = drive(running.addresses(), clients(), load.time)?;
        let after = meter.spent()?;
        let (done, rate) = (self.done(&sample), rate(&sample));
        let mut micros = sample.micros;
        micros.sort_unstable();
        let at = |share: usize| {
            let found = micros.get(micros.len() * share / 100);
            found.map_or(f64::NAN, |micros| f64::from(*micros) / 1_000.0)
        };
        // Milliseconds per thousand are seconds per million.
        let cost = |time: Duration| time.as_secs_f64() * 1_000_000.0 / done;
        Ok(Figures {
            rate,
            p50_ms: at(50),
            p99_ms: at(99),
            service_cpu_ms: cost(after.service - before.service),
            database_cpu_ms: cost(after.database - before.database),
            resident_mib: meter.resident_mib()?,
            warmth,
        })
    }

    /// The number of completed units: a login takes two requests.
    const fn done(self, sample: &Sample) -> f64 {
        let requests = sample.micros.len() as f64;
        if matches!(self, Self::Login) { requests / 2.0 } else { requests }
    }
}

/// Logs in until there are `most` sessions.
fn log_in(running: &Running<'_>, most: usize, clients: usize) -> Outcome<()> {
    drive(running.addresses(), log_ins(running.users(), most, clients), HOUR).map(drop)
}

fn log_ins(users: &Arc<Users>, most: usize, clients: usize) -> Vec<LogIns> {
    (0..clients).map(|_| LogIns::new(users, most)).collect()
}
