//! The ports whose statements are the same on both databases, a file each.
//!
//! Each store compiles this folder as a module of its own, by the one `#[path]` in its `lib.rs`, since diesel types
//! a query by its database. A function that is generic over the connection needs a bound for every clause of its
//! query, some of them on traits that diesel keeps private; diesel's `MultiConnection` has neither `ON CONFLICT` nor
//! row locks; and the body of a macro is code that neither editors nor rustfmt read (docs/adr/0028).
//!
//! What differs by database stands in the store, under a name that both have: [`crate::dialect`] and the doors of
//! `Store`, and the functions of a file there that a file here names.

mod activity;
mod admin_token;
mod alert;
mod attempt_history;
mod audit;
mod call;
mod charge;
mod closing;
mod event;
pub(crate) mod feed;
mod figures;
mod hook;
mod identity;
mod identity_sessions;
mod inbox;
pub(crate) mod key_checks;
mod ledger;
mod operator;
mod passkey;
mod project;
mod queue;
mod search;
mod signing_key;
mod unreadable;
pub(crate) mod wallet;
