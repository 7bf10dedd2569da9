//! The ports with the same statements on both databases, one file each.
//!
//! Each store compiles this folder as its own module, by the `#[path]` in its `lib.rs`, because
//! diesel types a query by its database. A function that is generic over the connection needs a
//! bound for every clause of its query, some of them on traits that diesel keeps private; diesel's
//! `MultiConnection` has neither `ON CONFLICT` nor row locks; and the body of a macro is code that
//! neither editors nor rustfmt read (docs/adr/0028).
//!
//! Code that differs by database lives in each store under the same name: [`crate::dialect`], the
//! methods of `Store` that run statements, and the functions that these files call.

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
mod guard;
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
