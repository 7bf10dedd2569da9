//! Shared by the SQL stores: tables, rows, and conversions between rows and domain types.
//!
//! A row has the columns that both databases select. Each store decides which statements run, in
//! which order and under which locks. A column of only one database is selected beside the row.

mod activity;
mod admin_token;
mod alert;
mod audit;
mod call;
mod closing;
mod convert;
mod event;
mod feed;
mod figures;
mod guard;
mod hook;
mod idempotency;
mod identity;
mod inbox;
mod instance;
mod lock;
mod migrations;
mod operator;
mod otp;
mod pace;
mod passkey;
mod project;
mod proof;
mod query;
mod quota;
mod receipt;
pub mod schema;
mod search;
mod session;
mod signing_key;
pub mod statement;
mod trace;
mod value;
mod waits;
mod wallet;

pub use activity::{RefusedRow, RefusedSumRow};
pub use admin_token::AdminTokenRow;
pub use alert::{AlertRow, TroubleRow};
pub use audit::AuditEntryRow;
pub use call::CallRow;
pub use closing::{CLOSABLE, CLOSE, ClosableRow, ClosingRow, NEXT_TO_CLOSE, NextRow};
pub use convert::{
    Row, SecretColumns, all, each, legible, maybe, sealed_bytes, stored_claims, stored_count,
    unavailable, unreachable,
};
pub use event::{EndpointRow, EventRow, WaitingRow};
pub use feed::{FeedRow, FeedStateRow, OldestRow, feed_slice, stored_place};
pub use figures::{FigureRow, FiguresLeaseRow, SentRow, TrafficRow, requests};
pub use guard::{GuardLevelRow, GuardMarkRow};
pub use hook::{ChangedHook, HookRow};
pub use idempotency::{RecordRow, slot_key};
pub use identity::IdentityRow;
pub use inbox::{MessageRow, NewMessageRow, ReceivedRow};
pub use instance::InstanceRow;
pub use lock::Lock;
pub use migrations::{MIGRATIONS_TABLE, NewerSchema, lacks_all, names, pending_migrations};
pub use operator::{FailureCounterRow, LinkRow, OperatorRow, OperatorSessionRow};
pub use otp::{
    AttemptRow, BudgetRow, OtpIdRow, OtpRow, guesses, newest_first, stored_guesses, stored_state,
    with_attempts,
};
pub use pace::pause;
pub use passkey::PasskeyRow;
pub use project::{CallerRow, KeyRow, ProjectRow};
pub use proof::{
    ProofRow, ProofRunRow, SUM, SumRow, WALLET_SNAPSHOT, WalletSnapshotRow, stored_position,
};
pub use quota::{counted_as_test, kept_in};
pub use receipt::{ReceiptRow, UnknownRow};
pub use search::SearchRow;
pub use session::{KeyAndSessionRow, SessionRow};
pub use signing_key::SigningKeyRow;
pub use trace::traced;
pub use value::{At, Id};
pub use waits::{WaitsRow, backlog};
pub use wallet::{
    AUDIT, AuditRow, EntryRow, HoldRow, WalletRow, WalletSettings, balance, balances,
};

/// The owner of queued work: a project, or `None` for background work.
pub type Flow = Option<dwar_kernel::ProjectId>;

/// Writes a row that is committed, to prove that writes work.
pub const PROVE_WRITABLE: &str = "INSERT INTO write_proofs (id, writes) VALUES (1, 1) \
    ON CONFLICT (id) DO UPDATE SET writes = write_proofs.writes + 1";

/// Most work that may wait. Above the default number of connections of a process.
pub const WAITING: usize = 4096;

mod types {
    pub use crate::{At, Id};
    pub use diesel::sql_types::*;
}
