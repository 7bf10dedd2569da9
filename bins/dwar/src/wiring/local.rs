//! The facts for alerts that only this process can see.

use super::background::Restarts;
use super::core::Core;
use super::gateways::Carriers;
use super::stores::Database;
use async_trait::async_trait;
use dwar_activity::installation::InstanceTrouble;
use dwar_app::CommonPorts;
use dwar_console::alerts::{
    ClockState, DatabaseState, LocalFacts, LoopState, ProviderCalls, troubles,
};
use dwar_http::LoopHealth;
use dwar_kernel::StoreError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How long a proof that writes work is valid.
const FRESH: Duration = Duration::from_secs(4);
/// Attempts to write that have to fail in a row.
const ATTEMPTS: u32 = 2;

/// A serving process: its calls to providers, its loops, its clock, and whether writes work.
pub struct Serving {
    machine: Machine,
    carriers: Arc<Carriers>,
    restarts: Arc<Restarts>,
    proof: Mutex<Option<(Instant, DatabaseState)>>,
}

/// A command on a machine: its clock, and the disk space that the database reports.
pub struct Machine {
    tools: CommonPorts,
    database: Arc<dyn Database>,
}

impl Serving {
    pub fn new(core: &Core, carriers: Arc<Carriers>, restarts: Arc<Restarts>) -> Self {
        Self { machine: Machine::new(core), carriers, restarts, proof: Mutex::default() }
    }

    fn providers(&self) -> Vec<ProviderCalls> {
        let now = self.machine.tools.now();
        let one = |(name, breaker): (&String, &Arc<dwar_gateways::BreakerGateway>)| {
            let row = breaker.fault_row()?;
            let told = self.carriers.refusals().of(name).filter(|it| it.reason == row.reason);
            Some(ProviderCalls {
                provider: name.clone(),
                faults: row.faults,
                since: now - row.age,
                reason: row.reason,
                status: told.and_then(|it| it.status),
                code: told.and_then(|it| it.code),
                paused: breaker.state().open_for,
            })
        };
        self.carriers.breakers.iter().filter_map(one).collect()
    }

    fn loops(&self) -> Vec<LoopState> {
        let one = |(LoopHealth { name, restarts, running }, ended)| LoopState {
            name,
            restarts,
            running,
            ended,
        };
        self.restarts.fallen().into_iter().map(one).collect()
    }
}

impl Machine {
    pub fn new(core: &Core) -> Self {
        Self { tools: core.parts.tools.clone(), database: core.database.clone() }
    }

    fn clock(&self) -> ClockState {
        let watch = &self.tools.watch;
        ClockState {
            ahead_ms: watch.ahead_ms().unwrap_or_default(),
            set_forward: watch.sweeps_behind(),
        }
    }
}

/// Judges the database by attempts to write. One may fail because others hold the database for a moment, so
/// that a database is read-only only if it says so, or if two attempts in a row fail while it answers reads.
async fn by_writes(database: &dyn Database) -> DatabaseState {
    for _ in 0..ATTEMPTS {
        if let Some(room) = known(database.prove_writable().await) {
            return room;
        }
        match database.is_read_only().await {
            Ok(true) => return DatabaseState::ReadOnly,
            Ok(false) => {}
            // A database that does not answer at all is down, which is reported as such.
            Err(_) => return DatabaseState::Unknown,
        }
    }
    DatabaseState::ReadOnly
}

/// Judges the database without a write, for commands that only read.
async fn by_reads(database: &dyn Database) -> DatabaseState {
    match database.is_read_only().await {
        Ok(true) => DatabaseState::ReadOnly,
        Ok(false) => known(database.room().await).unwrap_or_default(),
        Err(_) => DatabaseState::Unknown,
    }
}

/// What the result of a look at the disk says; `None` for an error that may have passed a moment later.
fn known(room: Result<Option<u64>, StoreError>) -> Option<DatabaseState> {
    match room {
        Ok(free) => Some(DatabaseState::Writable(free)),
        Err(StoreError::NoRoom) => Some(DatabaseState::Full),
        Err(_) => None,
    }
}

#[async_trait]
impl LocalFacts for Serving {
    fn host(&self) -> String {
        host()
    }

    fn troubles(&self) -> Vec<InstanceTrouble> {
        troubles(&self.providers(), &self.loops(), self.machine.clock())
    }

    async fn database(&self) -> DatabaseState {
        let known = self.proof.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((_, state)) = known.filter(|(at, _)| at.elapsed() < FRESH) {
            return state;
        }
        let state = by_writes(self.machine.database.as_ref()).await;
        let seen = Some((Instant::now(), state.clone()));
        *self.proof.lock().unwrap_or_else(PoisonError::into_inner) = seen;
        state
    }
}

#[async_trait]
impl LocalFacts for Machine {
    fn host(&self) -> String {
        host()
    }

    fn troubles(&self) -> Vec<InstanceTrouble> {
        troubles(&[], &[], self.clock())
    }

    async fn database(&self) -> DatabaseState {
        by_reads(self.database.as_ref()).await
    }
}

pub fn host() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
#[path = "local_tests.rs"]
mod tests;
