//! Implements every store port in the memory of this process, and a request limiter for one
//! instance.

mod activity;
mod admin_token;
mod alert;
mod attempt_history;
mod audit;
mod call;
mod charge;
mod closing;
mod event;
#[cfg(feature = "faults")]
mod faults;
mod feed;
mod figures;
mod guard;
mod hook;
mod idempotency;
mod identity;
mod identity_sessions;
mod inbox;
mod instance;
mod key_use;
mod leased_limiter;
mod ledger;
mod login;
mod operator;
mod otp;
mod passkey;
mod project;
mod queue;
mod quota_leases;
mod receipt;
mod request_limiter;
mod search;
mod send_limiter;
mod session;
mod shards;
mod signing_key;
mod store;
mod test_quota;
mod wallet;

#[cfg(feature = "faults")]
pub use faults::{Fault, Faults};
pub use leased_limiter::LeasedRequestLimiter;
pub use quota_leases::MemoryQuotaLeases;
pub use request_limiter::MemoryRequestLimiter;
pub use store::MemoryStore;
