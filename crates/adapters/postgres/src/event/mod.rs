//! What happened, and who still has to be told.
//!
//! Rows are locked in this order: an endpoint, its events, their deliveries, calls. Whoever records holds
//! the project's endpoints, so that none of them goes before the event is on record.

pub(crate) mod call;
pub(crate) mod claim;
pub(crate) mod feed;
pub(crate) mod record;
pub(crate) mod told;
mod trim;

pub(crate) use record::{forget_phone, record};
