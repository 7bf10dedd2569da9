use async_trait::async_trait;
use dwar_kernel::{InstanceId, StoreError, Timestamp};
use std::time::Duration;

/// How often a process says that it is alive.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// An instance not seen for this long is taken for dead.
const ALIVE: Duration = Duration::from_secs(30);
/// An instance not seen for this long is forgotten.
pub const FORGOTTEN: Duration = Duration::from_secs(24 * 3_600);

/// A process that runs the service, as it describes itself; nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub id: InstanceId,
    pub started_at: Timestamp,
    /// By the clock that all instances share.
    pub seen_at: Timestamp,
    pub version: String,
    pub host: String,
    pub pid: u32,
    pub api: String,
    /// Where its dashboard listens, if it has one.
    pub dashboard: Option<String>,
}

impl Instance {
    /// Whether it was seen within 30 seconds of `now`.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.seen_at >= Self::alive_since(now)
    }

    /// When an instance that is alive at `now` must have been seen, at the earliest.
    pub fn alive_since(now: Timestamp) -> Timestamp {
        now - ALIVE
    }
}

/// Keeps track of the processes that run the service on one database.
#[async_trait]
pub trait InstanceStore: Send + Sync {
    /// Records an instance, replacing what it reported before; forgets those not seen since
    /// `forget`. Gives what the store's own clock shows at an instant of this step; `None` if it has none but this
    /// machine's.
    async fn beat(
        &self,
        instance: Instance,
        forget: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Takes an instance that stops off the record; a second call changes nothing.
    async fn leave(&self, instance: InstanceId) -> Result<(), StoreError>;

    /// Those on record, the latest seen first, equals by id, up to `limit`.
    async fn instances(&self, limit: u32) -> Result<Vec<Instance>, StoreError>;
}
