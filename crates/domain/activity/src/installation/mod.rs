//! The installation: its instances, its alerts, the keys of its database and its queues.

mod alert;
mod instance;
mod keys;
mod queue;

pub use alert::{AlertChanges, AlertStore, InstanceTrouble, OpenAlert, ReportedTrouble};
pub use instance::{FORGOTTEN, HEARTBEAT, Instance, InstanceStore};
pub use keys::{ForeignKey, GivenKeys, KeyHolder, KnownKeys, NewKeys, StoredKeys};
pub use queue::{Backlog, COUNTED, QueueStore, Queues};
