//! Long tests, and tests that need the machine to themselves; `scripts/test.sh --all` runs them.

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
