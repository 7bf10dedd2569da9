//! Tests of the store on a PostgreSQL server: the contract of the ports, and behaviour specific to
//! this database.

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
