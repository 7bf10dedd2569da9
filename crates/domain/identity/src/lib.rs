//! The same phone number seen again.

#![warn(missing_docs)]

mod identity;
mod ports;

pub use identity::{Erased, Identity};
pub use ports::*;
