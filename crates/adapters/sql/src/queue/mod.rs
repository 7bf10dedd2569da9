//! How work queues: projects take turns, and old rows leave at a pace.

pub(crate) mod door;
pub(crate) mod fair_queue;
pub(crate) mod pace;
