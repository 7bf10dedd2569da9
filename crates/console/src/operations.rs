//! State of an installation: the port that operators read it through.

use async_trait::async_trait;
use dwar_activity::installation::{Instance, Queues};
use dwar_kernel::Timestamp;
use std::time::Duration;

/// Reads the state of this installation, as operators see it.
#[async_trait]
pub trait Operations: Send + Sync {
    /// Reads everything; the cost does not depend on how much is on record.
    async fn snapshot(&self) -> OperationsSnapshot;
}

/// State of an installation at one moment, as one process sees it.
pub struct OperationsSnapshot {
    /// The cheap checks of `dwar doctor`.
    pub checks: Vec<Check>,
    /// Instances of the last day, the latest seen first; `None` if unknown.
    pub instances: Option<Vec<Instance>>,
    /// `None` if unknown.
    pub queues: Option<Queues>,
    pub loops: Vec<Loop>,
    pub providers: Vec<ProviderStatus>,
    pub process: Process,
}

/// Result of one check, with advice if it failed.
pub struct Check {
    pub name: &'static str,
    pub health: Health,
    pub detail: String,
    /// What to do; `None` if nothing needs doing.
    pub advice: Option<&'static str>,
}

/// Severity of a check result, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    Good,
    /// Works, but not completely or not permanently.
    Warning,
    Failed,
}

/// A background loop of this process, which is restarted when it ends.
pub struct Loop {
    pub name: &'static str,
    pub restarts: u64,
    /// Whether it runs now; if not, it will be restarted.
    pub running: bool,
}

/// A provider as this process sees it, with its recent calls.
pub struct ProviderStatus {
    pub name: String,
    /// Remaining pause; `None` while the provider is called.
    pub open_for: Option<Duration>,
    pub calls: u32,
    /// Recent calls that failed through the provider's fault.
    pub faults: u32,
    /// Channels for which the provider is a default in live mode.
    pub carries: Vec<&'static str>,
    pub projects: Vec<String>,
}

/// Facts about this process, as operators see them.
pub struct Process {
    /// Version, with the name of the build if it has one.
    pub version: String,
    pub database: &'static str,
    pub started_at: Timestamp,
    /// Resident memory in bytes, if known.
    pub memory: Option<u64>,
}
