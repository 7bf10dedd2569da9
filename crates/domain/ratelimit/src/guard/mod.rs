//! The guard: who has to prove that a person asks for a code (docs/guard.md).
//!
//! Three subjects of a send have a level each: the address of the visitor, the series of the number, the
//! project. A number that gets a code takes a token from each, its verification gives that token and half
//! of another, and a level refills within a day. A send is asked for a proof while one of its levels is under one
//! token.
//!
//! ```
//! use dwar_kernel::read_instant;
//! use dwar_ratelimit::guard::{GuardLevel, TOKEN};
//! use std::time::Duration;
//!
//! let start = read_instant("2026-11-27T08:00:00Z").unwrap();
//! let hours = |count: u64| start + Duration::from_secs(3_600 * count);
//! let full = GuardLevel::full(GuardLevel::SERIES_CAPACITY, start);
//! let empty = full.changed(-20 * TOKEN, full.capacity, start);
//! assert!(empty.is_exhausted(start));
//! // A day refills all of it, so a token takes 72 minutes.
//! assert!(empty.is_exhausted(hours(1)) && !empty.is_exhausted(hours(2)));
//! ```

mod level;
mod local;
mod mark;
mod visitor;

pub use dwar_kernel::GuardSubjectKind;
pub use level::{GuardLevel, GuardSubject, LevelChange, StoredLevel, TOKEN, settled_week};
pub use local::{LocalLevels, MOST_ADDRESSES};
pub use mark::{GuardMark, GuardedPhone, GuardedSend, TakenToken};
pub use visitor::{GuardPass, InvalidVisitorAddress, Visitor, VisitorAddress};

#[cfg(test)]
mod bound_tests;
