//! The vault: AES-256-GCM, HMAC-SHA-256 and HKDF from the RustCrypto crates.
