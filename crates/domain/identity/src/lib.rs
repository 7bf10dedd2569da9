//! Identities: recognises a phone number that logged in before.
//!
//! ```
//! use dwar_identity::Erased;
//! use dwar_kernel::{EventKind, IdentityId, KeyMode, ProjectId, read_instant};
//!
//! let now = read_instant("2026-11-27T08:00:00Z").unwrap();
//! let project_mode = ProjectId::first_at(now).in_mode(KeyMode::Live);
//! // What a project is told once a person is erased: how many logins ended, and no phone number.
//! let event = Erased { sessions_revoked: 2 }.event(project_mode, IdentityId::first_at(now), now);
//! assert_eq!(event.kind, EventKind::IdentityDeleted);
//! ```

mod device;
mod identity;
mod ports;

pub use device::DeviceToken;
pub use identity::{Erased, Identity};
pub use ports::*;
