//! Contract suites for every port, fixed clock, seeded entropy, fixtures. For tests only.
//!
//! An adapter's test file opens its store and passes it to [`store_contract_tests!`], which checks the
//! promises of the ports, one test per promise.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

pub mod contract;
#[cfg(feature = "openapi")]
mod documented;
mod doubles;
mod fixtures;
mod macros;
mod outside;
mod parts;
mod pooler;
mod port;
mod race;
mod scene;
mod steps;
mod stores;

#[cfg(feature = "openapi")]
pub use documented::{Documented, SeenAnswer};
pub use doubles::{ClearVault, FixedClock, PlainHasher, SeededEntropy};
pub use fixtures::{
    CODE, Fixtures, Line, MS, PRICES, START, WRONG_CODE, any_project, minutes, phone, seconds,
};
pub use outside::{Carriers, PlainFormat, Post, Postbox, management, outside};
pub use parts::{ListSigner, console, new_token, parts, watch};
pub use pooler::Pooler;
pub use port::reserved_port;
pub use race::race;
pub use scene::ledger_of;
pub use steps::verdict;
pub use stores::Stores;
