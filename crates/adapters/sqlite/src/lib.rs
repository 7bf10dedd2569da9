//! Every store port on an embedded SQLite file.
//!
//! One thread writes, several connections read; see [`SqliteStore`].

mod command;
mod convert;
mod error;
mod event;
mod event_row;
mod idempotency;
mod identity;
mod inbox;
mod migrations;
mod otp;
mod otp_row;
mod pool;
mod project;
mod receipt;
mod room;
mod schema;
mod send_limiter;
mod session;
mod signing_key;
mod statement;
mod test_quota;
mod wallet;
mod wallet_row;
mod writer;

pub use error::OpenError;
pub use pool::{Settings, SqliteStore, Synchronous};
