//! Tests of the memory store: the contract of the ports, and the names of its steps.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod contract;
mod steps;
