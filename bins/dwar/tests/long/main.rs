//! What takes long or wants the machine to itself; `scripts/test.sh --all` runs it.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod agreement;
mod alone;
mod canary;
mod clocks;
mod closing;
mod crash;
mod doors;
mod failover;
mod feed;
mod listeners;
mod pages;
mod races;
mod rolling;
mod traces;
mod trips;
mod webhook_attacks;
