use async_trait::async_trait;
use dwar_kernel::{InstanceId, StoreError, Timestamp};
use std::time::Duration;

/// How often a process says that it is alive.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// One that has not been seen for as long is taken for dead.
const ALIVE: Duration = Duration::from_secs(30);
/// One that has not been seen for as long is forgotten.
pub const FORGOTTEN: Duration = Duration::from_secs(24 * 3_600);

/// A process that runs the service, as it says itself; nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Its id, made when it started.
    pub id: InstanceId,
    /// When it started.
    pub started_at: Timestamp,
    /// When it said so last.
    pub seen_at: Timestamp,
    /// The version of the program.
    pub version: String,
    /// The name of the machine.
    pub host: String,
    /// The number of the process there.
    pub pid: u32,
    /// Where its API listens.
    pub api: String,
    /// Where its dashboard listens, if it has one.
    pub dashboard: Option<String>,
}

impl Instance {
    /// Whether it was seen within 30 seconds of `now`.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.seen_at >= Self::alive_since(now)
    }

    /// Since when one has been seen that is alive at `now`.
    pub fn alive_since(now: Timestamp) -> Timestamp {
        now - ALIVE
    }
}

/// Knows the processes that run the service on one database.
#[async_trait]
pub trait InstanceStore: Send + Sync {
    /// Puts an instance on record, or in the place of what it said before; forgets those that were
    /// not seen since `forget`.
    async fn beat(&self, instance: Instance, forget: Timestamp) -> Result<(), StoreError>;

    /// Takes an instance off the record: it stops. Once more changes nothing.
    async fn leave(&self, instance: InstanceId) -> Result<(), StoreError>;

    /// Those on record, the latest seen first, equals by id, up to `limit`.
    async fn instances(&self, limit: u32) -> Result<Vec<Instance>, StoreError>;
}
