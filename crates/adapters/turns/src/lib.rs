//! How work waits for what there is only so much of, such as connections and processor time: those
//! who ask take turns, so that whoever asks for much delays nobody else for long.

mod admission;
mod fair_queue;

pub use admission::{AdmissionQueue, Permit};
pub use fair_queue::{FairQueue, Queued, Ticket};
