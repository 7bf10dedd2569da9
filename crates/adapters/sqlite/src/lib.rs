//! Every store port on an embedded SQLite file.
//!
//! One thread writes, several connections read; see [`SqliteStore`].

mod activity;
mod admin_token;
mod audit;
mod call;
mod charge;
mod connection;
mod event;
mod figures;
mod idempotency;
mod identity;
mod identity_sessions;
mod inbox;
mod instance;
mod key_use;
mod ledger;
mod operator;
mod otp;
mod passkey;
mod project;
mod queue;
mod receipt;
mod send_limiter;
mod session;
mod signing_key;
mod test_quota;
mod wallet;

pub use connection::error::OpenError;
pub use connection::pool::{Settings, SqliteStore, Synchronous};
