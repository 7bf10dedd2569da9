//! What those who run the service ask for: projects, money, people, and looking things up; one file each.
//!
//! Every use case names who asks, decides whether they may, and writes a change down before it is made.

mod account;
mod activity;
mod admin_tokens;
mod audit;
mod audit_log;
mod begun_proofs;
mod booking;
mod control;
mod endpoint_log;
mod endpoints;
mod error;
pub mod explain;
mod facade;
mod find;
mod first_steps;
mod hooks;
mod identities;
mod inbox;
mod ledger;
pub mod operations;
mod operators;
mod parts;
mod passkeys;
mod project_rules;
mod projects;
mod read_figures;
mod search_phones;
mod settle_restored;
mod sign_in;
mod sign_in_error;
mod signing_keys;
mod statement_csv;
mod stores;
mod timeline;
mod unlock_phone;
mod upkeep;
mod wallets;

pub use account::{AccountError, ManageAccount, TotpOffer};
pub use activity::{Activity, RequestFilter, RequestLine, RequestPage};
pub use admin_tokens::{ManageAdminTokens, NewAdminToken};
pub use audit::{Audit, AuditedChange};
pub use audit_log::AuditLog;
pub use begun_proofs::{BegunProofs, Scope};
pub use booking::{Booking, Preview};
pub use control::Control;
pub use endpoint_log::EndpointLog;
pub use endpoints::ManageEndpoints;
pub use error::ManageError;
pub use facade::{Administration, Management, ManagementOutside};
pub use find::{Find, Finds, Found};
pub use first_steps::{FirstStep, FirstSteps};
pub use hooks::{ChangedLifetimes, ManageHooks, NewHook};
pub use identities::ManageIdentities;
pub use inbox::{IN_INBOX, Inbox, InboxLine, InboxPage};
pub use ledger::{ManageLedger, Proven};
pub use operators::{Invited, ManageOperators};
pub use parts::ConsoleParts;
pub use passkeys::{PasskeyAnswer, Passkeys};
pub use project_rules::{project_rules, unknown_provider};
pub use projects::ManageProjects;
pub use read_figures::{Figures, ReadFigures};
pub use search_phones::SearchPhones;
pub use settle_restored::{SettleRestored, Settled};
pub use sign_in::{Credentials, Present, SignIn, SignedIn, TypedCode, Welcome};
pub use sign_in_error::SignInError;
pub use signing_keys::ManageSigningKeys;
pub use stores::ConsoleStores;
pub use timeline::{Entry, Fact, FellBack, NextSend, OnRecord, Refused, Story, Timeline};
pub use unlock_phone::{UnlockPhone, Unlocked};
pub use upkeep::{About, ConsoleSweep, ConsoleSwept, ConsoleUpkeep, Heartbeat, KeepFigures};
pub use wallets::ManageWallets;

/// The most entries that a list gives at once, at any door.
pub const MOST_LISTED: u32 = 500;
