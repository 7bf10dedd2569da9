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
    /// The background loops of this process.
    pub loops: Vec<Loop>,
    /// The providers that are configured.
    pub providers: Vec<Provider>,
    /// This process.
    pub process: Process,
}

/// One thing that was checked.
pub struct Check {
    /// The name it is reported under.
    pub name: &'static str,
    /// How bad it is.
    pub health: Health,
    /// What was found.
    pub detail: String,
    /// What to do, if there is anything to do.
    pub advice: Option<&'static str>,
}

/// How bad it is, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// As it should be.
    Good,
    /// Works, but not for everything or not for ever.
    Warning,
    /// Something does not work.
    Failed,
}

/// A loop of this process.
pub struct Loop {
    /// As the log and `/readyz` call it.
    pub name: &'static str,
    /// How often it was started again.
    pub restarts: u64,
    /// Whether it runs now; if not, it is about to be started again.
    pub running: bool,
}

/// A provider, as this process sees it.
pub struct Provider {
    /// As settings call it.
    pub name: String,
    /// For how long it is not called; `None` while it is called.
    pub open_for: Option<Duration>,
    /// How many of its latest calls are counted.
    pub calls: u32,
    /// How many of these failed through its fault.
    pub faults: u32,
    /// Where live messages go by default: channels, or nothing.
    pub carries: Vec<&'static str>,
    /// The projects that name it themselves.
    pub projects: Vec<String>,
}

/// This process.
pub struct Process {
    /// The version, and what its build was called, if anything.
    pub version: String,
    /// Which kind of store it is on.
    pub database: &'static str,
    /// When this process began.
    pub started_at: Timestamp,
    /// Resident memory in bytes, where that can be known.
    pub memory: Option<u64>,
}
