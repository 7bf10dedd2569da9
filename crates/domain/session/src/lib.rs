//! A lasting login: a line of refresh tokens, a current access token, and the keys that sign access tokens.

mod claims;
mod identity_sessions;
mod ports;
mod rotations;
mod session;
mod signing_key;
mod token;

pub use claims::{Claims, InvalidToken, issuer_of};
pub use identity_sessions::*;
pub use ports::*;
pub use rotations::Rotations;
pub use session::{
    CurrentAccess, Login, Presented, Replay, Rotation, RotationPolicy, Session, Sought, Successor,
};
pub use signing_key::{Algorithm, KeyState, SigningKey, UnknownAlgorithm};
pub use token::{AccessToken, JwkSet, PresentedToken, RefreshToken, RefreshTokenId, Signature};
