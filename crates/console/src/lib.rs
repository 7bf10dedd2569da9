//! Use cases of operators: projects, money, operators, and looking things up; one file each.
//!
//! Every use case takes the caller, decides whether the caller may, and records a change before it is made.

mod account;
mod activity;
mod admin_tokens;
pub mod alerts;
mod audit;
mod audit_log;
mod begun_proofs;
mod booking;
mod close_months;
mod control;
mod csv;
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
mod named_project;
pub mod operations;
mod operators;
mod parts;
mod passkeys;
mod project_rules;
mod projects;
mod read_figures;
mod read_spend;
mod request_filter;
mod request_scan;
mod requests_csv;
mod search_phones;
mod settle_restored;
mod sign_in;
mod sign_in_error;
mod signing_keys;
mod statement_csv;
mod stores;
mod test_provider;
mod timeline;
mod unlock_phone;
mod upkeep;
mod wallets;

pub use account::{AccountError, ManageAccount, TotpOffer};
pub use activity::{Activity, PAGE as REQUESTS_ON_A_PAGE, RequestPage};
pub use admin_tokens::{ManageAdminTokens, NewAdminToken};
pub use audit::{AuditRecorder, AuditedChange};
pub use audit_log::AuditLog;
pub use begun_proofs::{BegunProofs, ProofScope};
pub use booking::{Booking, Preview};
pub use close_months::{CloseError, CloseMonths, MonthToClose};
pub use control::Control;
pub use endpoint_log::EndpointLog;
pub use endpoints::ManageEndpoints;
pub use error::ManageError;
pub use facade::{Administration, Management, ManagementPorts};
pub use find::{FindRecords, SearchResult, SearchResults};
pub use first_steps::{FirstStep, FirstSteps};
pub use hooks::{ChangedLifetimes, ManageHooks, NewHook};
pub use identities::{LatestIdentities, ManageIdentities};
pub use inbox::{IN_INBOX, Inbox, InboxLine, InboxPage};
pub use ledger::{GroupedPage, LedgerProofState, ManageLedger};
pub use operators::{Invited, ManageOperators, SignInState};
pub use parts::ConsoleParts;
pub use passkeys::{PasskeyAnswer, Passkeys};
pub use project_rules::{project_rules, unknown_provider};
pub use projects::ManageProjects;
pub use read_figures::{Figures, GuardReport, ReadFigures};
pub use read_spend::{ChannelSpend, ReadSpend, Spend};
pub use request_filter::{FailedFor, RequestFilter, RequestLine};
pub use search_phones::SearchPhones;
pub use settle_restored::{SettleRestored, SettledSends};
pub use sign_in::{Credentials, LinkRecipient, SignIn, SignedIn, SignedInOperator, TypedCode};
pub use sign_in_error::SignInError;
pub use signing_keys::ManageSigningKeys;
pub use stores::ConsoleStores;
pub use test_provider::TestProvider;
pub use timeline::{
    Entry, FallbackReason, NextSend, PhoneHistory, RefusalGroup, RequestHistory, Timeline,
    TimelineFact,
};
pub use unlock_phone::{UnlockPhone, Unlocked};
pub use upkeep::{ConsoleSweep, ConsoleSwept, ConsoleUpkeep, Heartbeat, KeepFigures, ProcessInfo};
pub use wallets::ManageWallets;

/// Most entries of one list, on the command line, in the admin API and on pages.
pub const MOST_LISTED: u32 = 500;
