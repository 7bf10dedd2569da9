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
mod by;
mod client;
mod command;
mod facts;
mod link;
mod lockout;
mod name;
mod operator;
mod passkey;
mod password;
mod pending;
mod ports;
mod role;
mod searches;
mod secrets;
mod session;
mod standing;
#[cfg(test)]
mod tests;
mod ticket;
mod token;
mod totp;

pub use access::{Access, MalformedAccess};
pub use attempt::{Attempt, Count, Network, Origin};
pub use audit::{Action, Actor, ActorFilter, AuditCursor, AuditEntry, AuditFilter, InvalidActor};
pub use browser::BrowserToken;
pub use by::By;
pub use client::{Client, Device, MalformedDevice};
pub use command::{Command, Makes, Need, Verdict};
pub use facts::{Facts, masked};
pub use link::{Link, LinkKind};
pub use lockout::Lockout;
pub use name::{InvalidName, OperatorName};
pub use operator::{Operator, OperatorChange, Proof, ProvenStep};
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
pub use role::{Area, Permission, Role};
pub use searches::{PhoneSearch, SearchAdmission, SearchAllowance, SearchQuota, Searches};
pub use secrets::{AdminSecret, LinkSecret, MalformedSecret, SessionToken};
pub use session::OperatorSession;
pub use standing::{Admission, Rule, Standing};
pub use token::AdminToken;
pub use totp::{MalformedTotpSecret, Totp, TotpCode, TotpSecret};
