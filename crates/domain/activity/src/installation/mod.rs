//! What runs the service on one database, what is wrong with it, which keys that database belongs to, and what waits there to be
//! done.

mod alert;
mod instance;
mod keys;
mod queue;

pub use alert::{AlertChanges, AlertStore, OpenAlert, Reported, Trouble};
pub use instance::{FORGOTTEN, HEARTBEAT, Instance, InstanceStore};
pub use keys::{ForeignKey, Found, GivenKeys, KeyHolder, KnownKeys, NewKeys};
pub use queue::{Backlog, COUNTED, QueueStore, Queues};
