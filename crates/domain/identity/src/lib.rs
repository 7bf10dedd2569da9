//! Identities: recognises a phone number that logged in before.

mod identity;
mod ports;

pub use identity::{Erased, Identity};
pub use ports::*;
