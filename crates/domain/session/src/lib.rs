//! A login that lasts: a refresh-token line, a current access token, the keys that sign it.

mod claims;
mod ports;
mod rotations;
mod session;
mod signing_key;
mod token;

pub use claims::{Claims, InvalidToken};
#[cfg(feature = "mocks")]
pub use ports::{MockSessionStore, MockSigningKeyStore, MockTokenSigner};
pub use ports::{SessionStore, SigningKeyStore, TokenSigner};
pub use rotations::Rotations;
pub use session::{
    CurrentAccess, Presented, Replay, Rotation, RotationPolicy, Session, Started, Successor,
};
pub use signing_key::{Algorithm, KeyState, SigningKey, UnknownAlgorithm};
pub use token::{AccessToken, JwkSet, Place, RefreshToken};
