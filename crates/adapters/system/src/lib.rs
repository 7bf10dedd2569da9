//! System adapters of every use case: the real clocks, the system's entropy, the vault, and the
//! password hasher.
//!
//! No other crate may ask for the time or for random bytes; `clippy.toml` enforces it.

mod clock;
mod entropy;
mod hasher;
mod master_key;
mod vault;

pub use clock::{SystemClock, SystemSteadyClock};
pub use entropy::SystemEntropy;
pub use hasher::Argon2Hasher;
pub use master_key::{InvalidMasterKey, MasterKey};
pub use vault::RustCryptoVault;
