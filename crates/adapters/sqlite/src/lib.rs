//! Implements every store port on an embedded SQLite file.
//!
//! One thread writes, several connections read; see [`SqliteStore`].

mod activity;
mod charge;
mod claim;
mod closing;
mod connection;
mod copies;
#[macro_use]
mod dialect;
mod event;
mod figures_statements;
mod guard_statements;
mod idempotency;
mod identity;
mod instance;
mod key_use;
mod login;
mod otp;
#[path = "../../sql/ports/mod.rs"]
mod ports;
mod project;
mod receipt;
mod search;
mod send_limiter;
mod session;
mod test_quota;
mod wallet;

pub use claim::{Claim, is_open_elsewhere};
pub use connection::error::OpenError;
pub use connection::open_files::beside;
pub use connection::pool::SqliteStore;
pub use connection::settings::{Settings, Synchronous};
pub use copies::{FileError, copy, examine, recognise, settle};
