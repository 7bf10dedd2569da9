//! The vault: AES-256-GCM, HMAC-SHA-256 and HKDF from the RustCrypto crates.

mod master_key;
mod strength;
mod vault;

pub use master_key::{InvalidMasterKey, MasterKey};
pub use vault::RustCryptoVault;
