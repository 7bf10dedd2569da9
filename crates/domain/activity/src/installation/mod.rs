//! What runs the service on one database, which keys that database belongs to, and what waits there to be
//! done.

mod instance;
mod keys;
mod queue;

pub use instance::{FORGOTTEN, HEARTBEAT, Instance, InstanceStore};
pub use keys::{ForeignKey, Found, GivenKeys, KeyHolder, KnownKeys, NewKeys};
pub use queue::{Backlog, COUNTED, QueueStore, Queues};
