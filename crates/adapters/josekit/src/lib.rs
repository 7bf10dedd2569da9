//! Signs and verifies access tokens with josekit; publishes the public keys.
//!
//! Tokens are JWTs in compact form by RFC 9068, signed with ES256, EdDSA (Ed25519) or RS256 (3072
//! bits). RFC 9068 section 2.1 requires RS256 of OAuth authorization servers; this service is not
//! one and defaults to ES256.

mod key;
mod key_ring;
mod key_ring_cache;
mod signer;
mod token;

pub use signer::JosekitSigner;

#[cfg(test)]
mod forgery_tests;
#[cfg(test)]
mod sole_use_tests;
#[cfg(test)]
mod tests;
