//! Operators of the service: their rights, their sign-in, and the audit log of their changes.
//!
//! ```
//! use dwar_kernel::{ProjectId, read_instant};
//! use dwar_operator::{Access, Area, Permission, Role};
//!
//! let now = read_instant("2026-11-27T08:00:00Z").unwrap();
//! let later = read_instant("2026-11-27T08:00:01Z").unwrap();
//! let (shop, other) = (ProjectId::first_at(now), ProjectId::first_at(later));
//! let support = Access::one(shop, Role::Support);
//! assert!(support.may(shop, Permission::See(Area::Activity)));
//! assert!(!support.may(shop, Permission::Unmask));
//! // A project without a role does not exist for them.
//! assert!(!support.knows(other));
//! // Nobody gives what is not theirs.
//! assert!(!support.grants(&support) && Access::everything().grants(&support));
//! ```

mod access;
mod attempt;
mod audit;
mod browser;
mod client;
mod command;
mod facts;
mod failure_counter;
mod link;
mod lockout;
mod name;
mod operator;
mod passkey;
mod password;
mod pending;
mod ports;
mod requester;
mod role;
mod searches;
mod secrets;
mod session;
#[cfg(test)]
mod tests;
mod ticket;
mod token;
mod totp;

pub use access::{Access, MalformedAccess};
pub use attempt::{Attempt, FailureKey, Network, Origin};
pub use audit::{Action, Actor, ActorFilter, AuditCursor, AuditEntry, AuditFilter, InvalidActor};
pub use browser::BrowserToken;
pub use client::{Client, Device, MalformedDevice};
pub use command::{AccessDecision, Command, CreatedCredential, RequiredAccess};
pub use facts::{AuditDetails, masked};
pub use failure_counter::{AttemptAdmission, FailureCounter, LockoutRule};
pub use link::{LinkKind, OneTimeLink};
pub use lockout::Lockout;
pub use name::{InvalidName, OperatorName};
pub use operator::{Operator, OperatorChange, ProvenStep, SignInProof};
pub use passkey::{
    Challenge, NoPasskey, Passkey, PasskeyAdded, PasskeyAlgorithm, PasskeyKey, PasskeyMade,
    PasskeySigned, PasskeySite, PasskeyStore, PasskeyUsed, PasskeyVerifier,
};
#[cfg(feature = "mocks")]
pub use passkey::{MockPasskeyStore, MockPasskeyVerifier};
pub use password::{InvalidPassword, Password, PasswordHash};
pub use pending::PendingSignIn;
pub use ports::{
    AdminTokenStore, AuditStore, EndSessions, Hashing, OperatorStore, PasswordHasher, SearchStore,
};
#[cfg(feature = "mocks")]
pub use ports::{
    MockAdminTokenStore, MockAuditStore, MockOperatorStore, MockPasswordHasher, MockSearchStore,
};
pub use requester::Requester;
pub use role::{Area, Permission, Role};
pub use searches::{PhoneSearch, SearchAdmission, SearchAllowance, SearchQuota, Searches};
pub use secrets::{AdminSecret, LinkSecret, MalformedOperatorSecret, SessionToken};
pub use session::OperatorSession;
pub use token::AdminToken;
pub use totp::{MalformedTotpSecret, Totp, TotpCode, TotpSecret};
