//! Every store port on an embedded SQLite file.
//!
//! One thread writes, several connections read; see [`SqliteStore`].

mod activity;
mod admin_token;
mod audit;
mod call;
mod cautions;
mod charge;
mod command;
mod error;
mod event;
mod figures;
mod idempotency;
mod identity;
mod identity_sessions;
mod inbox;
mod instance;
mod key_use;
mod ledger;
mod migrations;
mod operator;
mod otp;
mod otp_row;
mod pace;
mod passkey;
mod pool;
mod project;
mod queue;
mod receipt;
mod remembered;
mod room;
mod send_limiter;
mod session;
mod signing_key;
mod statement;
mod test_quota;
mod wallet;
mod wallet_row;
mod writer;
mod writes;

pub use error::OpenError;
pub use pool::{Settings, SqliteStore, Synchronous};
