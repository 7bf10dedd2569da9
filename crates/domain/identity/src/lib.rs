//! The same phone number seen again.

mod identity;
mod ports;

pub use identity::{Erased, Identity};
pub use ports::*;
