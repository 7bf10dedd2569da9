//! The texts that exist in Hindi. Everything else is in English.

pub(crate) mod playground;
pub(crate) mod sign_in;
