//! The behaviour of the binary for its users, on both databases; `scripts/test.sh` runs it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod alerts;
mod archive;
mod backups;
mod ceilings;
mod cli;
mod client_address;
mod closing;
mod dashboard;
mod delivery;
mod docs;
mod error_table;
mod events;
mod events_feed;
mod flow;
mod guard;
mod hardening;
mod hooks;
mod inputs;
mod keys;
mod known_devices;
mod limits;
mod manners;
mod memory;
mod metrics;
mod own_issuer;
mod phones;
mod pooler;
mod providers;
mod proxies;
mod rights;
mod shared_limits;
mod sign_in;
mod start;
mod trial;
mod unread_log;
mod views;
