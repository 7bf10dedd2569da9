//! What every use case needs: the real clock, the system's entropy, and the vault.
//!
//! No other crate may ask for the time or for random bytes; `clippy.toml` enforces it.

mod clock;
mod entropy;
mod master_key;
mod strength;
mod vault;

pub use clock::SystemClock;
pub use entropy::SystemEntropy;
pub use master_key::{InvalidMasterKey, MasterKey};
pub use vault::RustCryptoVault;
