//! The store in memory: what the ports promise, and how its steps are named.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod contract;
mod steps;
