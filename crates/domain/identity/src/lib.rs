//! The same phone number seen again.

mod identity;
mod ports;

pub use identity::{Erased, Identity, Sighting};
pub use ports::IdentityStore;
#[cfg(feature = "mocks")]
pub use ports::MockIdentityStore;
