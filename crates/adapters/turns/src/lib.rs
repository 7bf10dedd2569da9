//! Queues for limited resources, such as connections and processor time. Callers take turns, so
//! that a caller with many requests does not delay others for long.

mod admission;
mod fair_queue;
mod load;

pub use admission::{AdmissionQueue, Permit};
pub use fair_queue::{FairQueue, Queued, Ticket};
pub use load::{Load, PoolLoad, QueueLoad, Times};
