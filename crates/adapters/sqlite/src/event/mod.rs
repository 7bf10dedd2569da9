//! Events and their deliveries.

pub(crate) mod call;
pub(crate) mod claim;
pub(crate) mod feed;
pub(crate) mod record;
pub(crate) mod told;
mod trim;

pub(crate) use record::{feeding, forget_phone, listeners, record};

#[cfg(test)]
mod tests;
