//! Every store port on an embedded SQLite file.
//!
//! One thread writes, several connections read; see [`SqliteStore`].

mod activity;
mod charge;
mod claim;
#[macro_use]
mod connection;
mod copies;
mod event;
mod figures_statements;
mod idempotency;
mod identity;
mod identity_sessions;
mod inbox;
mod instance;
mod key_use;
mod login;
mod otp;
mod project;
mod receipt;
mod search;
mod send_limiter;
mod session;
mod test_quota;
mod wallet;

// Said once for both databases, and compiled for each.
#[path = "../../sql/ports/admin_token.rs"]
mod admin_token;
#[path = "../../sql/ports/audit.rs"]
mod audit;
#[path = "../../sql/ports/call.rs"]
mod call;
#[path = "../../sql/ports/figures.rs"]
mod figures;
#[path = "../../sql/ports/hook.rs"]
mod hook;
#[path = "../../sql/ports/key_checks.rs"]
mod key_checks;
#[path = "../../sql/ports/ledger.rs"]
mod ledger;
#[path = "../../sql/ports/operator.rs"]
mod operator;
#[path = "../../sql/ports/passkey.rs"]
mod passkey;
#[path = "../../sql/ports/queue.rs"]
mod queue;
#[path = "../../sql/ports/signing_key.rs"]
mod signing_key;
#[path = "../../sql/ports/trace.rs"]
mod trace;
#[path = "../../sql/ports/unreadable.rs"]
mod unreadable;

pub use claim::{Claim, is_open_elsewhere};
pub use connection::error::OpenError;
pub use connection::pool::{Settings, SqliteStore, Synchronous};
pub use copies::{FileError, beside, copy, examine, recognise, settle};

/// As the ports that are said once call it.
use SqliteStore as Store;

/// What traces call the database (OpenTelemetry, `db.system.name`).
const SYSTEM: &str = "sqlite";
