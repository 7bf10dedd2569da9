//! Puts the program together: which adapter stands behind which port.

mod addresses;
mod application;
mod core;
mod gateways;
mod keys;
mod policies;
mod stores;

pub use application::{Application, keep_preparing, prepare};
pub use core::{Core, WiringError};
pub use gateways::{Available, available as available_providers};
