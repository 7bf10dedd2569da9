use async_trait::async_trait;
use dwar_kernel::{InstanceId, StoreError, Timestamp};
use std::time::Duration;

/// How often an instance reports that it is alive.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// An instance not seen for this long is considered dead.
const ALIVE: Duration = Duration::from_secs(30);
/// An instance not seen for this long is deleted from the record.
pub const FORGOTTEN: Duration = Duration::from_secs(24 * 3_600);

/// A process that runs the service, as it describes itself; holds no secret.
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
    /// Address of its dashboard, if it has one.
    pub dashboard: Option<String>,
}

impl Instance {
    /// Whether it was seen within 30 seconds of `now`.
    pub fn is_alive(&self, now: Timestamp) -> bool {
        self.seen_at >= Self::alive_since(now)
    }

    /// Earliest last sign of life of an instance that is alive at `now`.
    pub fn alive_since(now: Timestamp) -> Timestamp {
        now - ALIVE
    }
}

/// Keeps track of the processes that run the service on one database.
#[async_trait]
pub trait InstanceStore: Send + Sync {
    /// Records an instance, replacing its earlier report, and deletes those not seen since `forget`. Returns
    /// the time of the store's own clock during this step; `None` if the store uses the clock of this
    /// machine.
    async fn beat(
        &self,
        instance: Instance,
        forget: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError>;

    /// Deletes an instance that stops from the record; repetition changes nothing.
    async fn leave(&self, instance: InstanceId) -> Result<(), StoreError>;

    /// At most `limit` instances on record, the latest seen first, equal times by id.
    async fn instances(&self, limit: u32) -> Result<Vec<Instance>, StoreError>;
}
