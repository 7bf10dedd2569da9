//! Promises of the ports, one function per promise.
//!
//! «shared» functions work on a store that other tests use at the same time and that has rows of earlier
//! runs: each makes its own project with fresh ids. «fresh» functions see or change rows of every tenant and
//! need a store of their own, empty but migrated. [`crate::store_contract_tests!`] knows which is which. A
//! store MUST be set up to queue 200 callers without refusing one.

pub mod activity;
pub mod admin_token;
pub mod archive;
pub mod audit;
pub mod closing;
mod draw;
pub mod events;
pub mod feed;
pub mod figures;
pub mod guard;
pub mod hooks;
pub mod idempotency;
pub mod identity;
pub mod identity_sessions;
pub mod inbox;
pub mod instances;
pub mod ledger;
pub mod login;
pub mod operator;
pub mod otp;
pub mod passkey;
pub mod project;
pub mod quota_leases;
pub mod receipts;
pub mod request_limiter;
pub mod searches;
pub mod sends;
pub mod session;
pub mod signing_key;
pub mod test_quota;
pub mod together;
pub mod wallet;

/// Concurrent callers in tests of the limits of a phone or a code.
const CROWD: usize = 200;
/// More than any project has.
const MANY: u32 = 1_000;
/// Repetitions of a race: a missing lock may stay unnoticed once, but not always.
const ROUNDS: usize = 4;

fn count<T>(answers: &[T], wanted: impl Fn(&T) -> bool) -> usize {
    answers.iter().filter(|answer| wanted(answer)).count()
}
