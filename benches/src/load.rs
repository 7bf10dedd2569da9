//! So many clients, each on a connection of its own, who ask one thing after another.

use crate::Outcome;
use crate::client::Client;
use crate::contestant::{Caller, Running, Session};
use crate::provider::Provider;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// How many clients there are.
const CLIENTS: usize = 16;

/// What is asked again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// A request that the service does nothing for: what HTTP alone costs.
    Floor,
    /// A code is sent and verified.
    Login,
    /// A session is validated.
    Validate,
    /// A pair of tokens is swapped for the next.
    Refresh,
}

impl Phase {
    /// All of them, in the order they are measured.
    pub const ALL: [Self; 4] = [Self::Floor, Self::Login, Self::Validate, Self::Refresh];

    /// What the tables call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Floor => "`healthz`, the floor",
            Self::Login => "Login: send and verify",
            Self::Validate => "Validate",
            Self::Refresh => "Refresh",
        }
    }

    /// Whether the peer has anything of the kind.
    const fn is_ours_alone(self) -> bool {
        matches!(self, Self::Floor | Self::Refresh)
    }
}

/// What one phase of one round came to.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// How many a second.
    pub rate: f64,
    /// How long half of them took at most, in milliseconds.
    pub p50: f64,
    /// How long all but one in a hundred took at most, in milliseconds.
    pub p99: f64,
}

/// One client with its connection, and the session it got last.
struct User {
    client: Client,
    session: Option<Session>,
}

/// Measures every phase for so many seconds, after half of that to warm up.
pub async fn measure(
    running: &Running<'_>,
    provider: &Provider,
    seconds: u64,
) -> Outcome<Vec<(Phase, Figures)>> {
    let caller = running.caller(provider);
    let mut users = Vec::new();
    for _ in 0..CLIENTS {
        users.push(User { client: running.client().await?, session: None });
    }
    let mut found = Vec::new();
    for phase in Phase::ALL {
        if phase.is_ours_alone() && !caller.dwar {
            continue;
        }
        let time = Duration::from_secs(seconds);
        run(phase, &caller, &mut users, time / 2).await?;
        found.push((phase, run(phase, &caller, &mut users, time).await?));
    }
    Ok(found)
}

async fn run(
    phase: Phase,
    caller: &Caller,
    users: &mut Vec<User>,
    time: Duration,
) -> Outcome<Figures> {
    let begun = Instant::now();
    let mut asking = JoinSet::new();
    for mut user in users.drain(..) {
        let caller = caller.clone();
        asking.spawn(async move {
            let mut times = Vec::new();
            while begun.elapsed() < time {
                let asked = Instant::now();
                user.ask(phase, &caller).await?;
                times.push(asked.elapsed());
            }
            Ok((user, times))
        });
    }
    let mut times = Vec::new();
    while let Some(done) = asking.join_next().await {
        let done: Outcome<(User, Vec<Duration>)> = done?;
        let (user, took) = done?;
        users.push(user);
        times.extend(took);
    }
    let took = begun.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |share: usize| {
        let time = times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
        time.map_or(0.0, |time| time.as_secs_f64() * 1_000.0)
    };
    Ok(Figures { rate: times.len() as f64 / took, p50: at(50), p99: at(99) })
}

impl User {
    async fn ask(&mut self, phase: Phase, caller: &Caller) -> Outcome<()> {
        let session = || self.session.as_ref().ok_or("nobody is logged in");
        match phase {
            Phase::Floor => caller.nothing(&mut self.client).await?,
            Phase::Login => {
                self.session = Some(caller.log_in(&mut self.client).await?);
            }
            Phase::Validate => caller.validate(&mut self.client, session()?).await?,
            Phase::Refresh => {
                self.session = Some(caller.refresh(&mut self.client, session()?).await?);
            }
        }
        Ok(())
    }
}
