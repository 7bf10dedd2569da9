//! How work waits for limited resources, such as connections and processor time: callers take
//! turns, so that one that asks for much delays no other for long.

mod admission;
mod fair_queue;
mod load;

pub use admission::{AdmissionQueue, Permit};
pub use fair_queue::{FairQueue, Queued, Ticket};
pub use load::{Load, PoolLoad, QueueLoad, Times};
