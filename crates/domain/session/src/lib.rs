//! A lasting login: a line of refresh tokens, a current access token, and the keys that sign access tokens.
//!
//! A refresh token works once. One that is used again, later than a moment after its exchange, ends the session:
//!
//! ```
//! use dwar_kernel::{Digest, IdentityId, KeyMode, ProjectId, SessionId, TokenId, read_instant};
//! use dwar_session::{
//!     CurrentAccess, PresentedRefreshToken, Rotation, RotationPolicy, Rotations, Session, Successor,
//! };
//! use std::time::Duration;
//!
//! let minutes = |count: u64| Duration::from_secs(60 * count);
//! let start = read_instant("2026-11-27T08:00:00Z").unwrap();
//! let (month, later) = (start + minutes(43_200), start + minutes(1));
//! let token = TokenId::first_at(start);
//! let access = CurrentAccess { token, issued_at: start, expires_at: start + minutes(15) };
//! let mut session = Session {
//!     id: SessionId::first_at(start),
//!     project_mode: ProjectId::first_at(start).in_mode(KeyMode::Live),
//!     identity: IdentityId::first_at(start),
//!     created_at: start,
//!     expires_at: month,
//!     refresh: Digest([0; 32]),
//!     generation: 0,
//!     refresh_expires_at: month,
//!     access,
//!     rotations: Rotations::default(),
//!     replay: None,
//!     revoked_at: None,
//! };
//!
//! let policy = RotationPolicy { leeway: Duration::from_secs(10), replay: minutes(1) };
//! let first = PresentedRefreshToken { generation: 0, refresh: Digest([0; 32]), key: None };
//! let next = |digest| Successor {
//!     refresh: Digest([digest; 32]),
//!     refresh_expires_at: month,
//!     access,
//!     replay: None,
//! };
//! assert_eq!(session.rotate(&first, next(1), policy, start), Rotation::Rotated);
//! assert_eq!(session.rotate(&first, next(2), policy, later), Rotation::Reused);
//! assert!(!session.is_alive(later));
//! ```

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
    CurrentAccess, KeyAndSession, Login, PresentedRefreshToken, Replay, Rotation, RotationPolicy,
    Session, Successor,
};
pub use signing_key::{Algorithm, KeyState, SigningKey, UnknownAlgorithm};
pub use token::{AccessToken, JwkSet, PresentedToken, RefreshToken, RefreshTokenId, Signature};
