//! What runs the service on one database, and what waits there to be done.

#![warn(missing_docs)]

mod instance;
mod queue;

pub use instance::{FORGOTTEN, HEARTBEAT, Instance, InstanceStore};
pub use queue::{Backlog, COUNTED, QueueStore, Queues};
