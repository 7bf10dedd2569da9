//! How an installation is doing: the port that those who run it read.

use async_trait::async_trait;
use dwar_activity::installation::{Instance, Queues};
use dwar_kernel::Timestamp;
use std::time::Duration;

/// How this installation is doing.
#[async_trait]
pub trait Operations: Send + Sync {
    /// Reads everything; costs little, however much is on record.
    async fn snapshot(&self) -> Snapshot;
}

/// How it was at one moment.
pub struct Snapshot {
    /// The checks of `dwar doctor` that cost little.
    pub checks: Vec<Check>,
    /// Those of the last day, the latest seen first; `None` if unknown.
    pub instances: Option<Vec<Instance>>,
    /// `None` if unknown.
    pub queues: Option<Queues>,
    pub loops: Vec<Loop>,
    pub providers: Vec<Provider>,
    pub process: Process,
}

/// One thing that was checked.
pub struct Check {
    pub name: &'static str,
    pub health: Health,
    pub detail: String,
    /// What to do, if there is anything to do.
    pub advice: Option<&'static str>,
}

/// How bad it is, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Good,
    /// Works, but not for everything or not for ever.
    Warning,
    Failed,
}

/// A loop of this process.
pub struct Loop {
    /// As the log and `/readyz` call it.
    pub name: &'static str,
    pub restarts: u64,
    /// Whether it runs now; if not, it is about to be started again.
    pub running: bool,
}

/// A provider, as this process sees it.
pub struct Provider {
    pub name: String,
    /// For how long it is not called; `None` while it is called.
    pub open_for: Option<Duration>,
    /// How many of its latest calls are counted.
    pub calls: u32,
    /// How many of these failed through its fault.
    pub faults: u32,
    /// Where live messages go by default: channels, or nothing.
    pub carries: Vec<&'static str>,
    pub projects: Vec<String>,
}

/// This process.
pub struct Process {
    /// The version, and what its build was called, if anything.
    pub version: String,
    pub database: &'static str,
    pub started_at: Timestamp,
    /// Resident memory in bytes, where that can be known.
    pub memory: Option<u64>,
}
