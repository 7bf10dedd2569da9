//! What happened, and who still has to be told.

pub(crate) mod call;
pub(crate) mod claim;
pub(crate) mod record;
pub(crate) mod told;

pub(crate) use record::{forget_phone, listeners, record};

#[cfg(test)]
mod tests;
