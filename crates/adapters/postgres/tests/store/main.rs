//! The store on a PostgreSQL server: what the ports promise, and what only this database does.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

#[path = "../support/mod.rs"]
mod support;

mod audit;
mod cautions;
mod contract;
mod door;
mod durable;
mod engine;
mod events;
mod feed;
mod ledger;
mod locking;
mod look_ups;
mod migrations;
mod outage;
mod quota;
mod repeated;
mod room;
mod trips;
