//! Events and their deliveries.
//!
//! Locks are taken in this order: endpoint, its events, their deliveries, calls. A step that
//! records an event locks the endpoints of its project, so that no endpoint is removed before the
//! event is recorded.

pub(crate) mod call;
pub(crate) mod claim;
pub(crate) mod feed;
pub(crate) mod record;
pub(crate) mod told;
mod trim;

pub(crate) use record::{forget_phone, record};
