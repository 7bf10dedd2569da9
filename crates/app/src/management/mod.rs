//! What those who run the service ask for: projects, money, people, and looking things up.

mod account;
mod activity;
mod admin_tokens;
mod audit;
mod audit_log;
mod begun_proofs;
mod control;
mod endpoint_log;
mod endpoints;
mod error;
pub mod explain;
mod facade;
mod first_steps;
mod identities;
mod ledger;
pub mod operations;
mod operators;
mod passkeys;
mod project_rules;
mod projects;
mod read_figures;
mod search_phones;
mod sign_in;
mod signing_keys;
mod statement_csv;
mod timeline;
mod unlock_phone;
mod wallets;

pub use account::{AccountError, ManageAccount, TotpOffer};
pub use activity::{Activity, RequestFilter, RequestLine, RequestPage};
pub use admin_tokens::{ManageAdminTokens, NewAdminToken};
pub use audit::{Audit, AuditedChange};
pub use audit_log::AuditLog;
pub use begun_proofs::BegunProofs;
pub use control::Control;
pub use endpoint_log::EndpointLog;
pub use endpoints::ManageEndpoints;
pub use error::ManageError;
pub use facade::{Administration, Management, ManagementOutside};
pub use first_steps::{FirstStep, FirstSteps};
pub use identities::ManageIdentities;
pub use ledger::{ManageLedger, Proven, Scope};
pub use operators::{Invited, ManageOperators};
pub use passkeys::{PasskeyAnswer, Passkeys};
pub use project_rules::{project_rules, unknown_provider};
pub use projects::{CreatedProject, ManageProjects};
pub use read_figures::{Figures, ReadFigures};
pub use search_phones::SearchPhones;
pub use sign_in::{Credentials, Present, SignIn, SignInError, SignedIn, TypedCode, Welcome};
pub use signing_keys::{ManageSigningKeys, SigningKeyPolicy};
pub use timeline::{Entry, Fact, FellBack, NextSend, OnRecord, Refused, Story, Timeline};
pub use unlock_phone::{UnlockPhone, Unlocked};
pub use wallets::ManageWallets;

/// The most entries that a list gives at once, at any door.
pub const MOST_LISTED: u32 = 500;
