//! Long tests, which `scripts/test.sh --all` runs.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

#[path = "../support/mod.rs"]
mod support;

mod alone;
mod plans;
mod reads;
