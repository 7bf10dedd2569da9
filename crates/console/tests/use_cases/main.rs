//! The use cases of operators, over mocked ports where a call, its order or its failure is the point, and
//! over a store in memory where the resulting records are.
//!
//! A mock without expectations fails the test when it is called.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod activity;
mod alerts;
mod audit;
mod booking;
mod close_months;
mod common;
mod inbox;
mod manage_endpoints;
mod manage_ledger;
mod manage_operators;
mod manage_projects;
mod manage_signing_keys;
mod manage_wallets;
mod search_phones;
mod second_factor;
mod sign_in;
mod spans;
mod sweep;
mod test_provider;
mod timeline;
mod unlock_phone;
