//! The store in an SQLite file: what the ports promise, and how it is kept.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod common;
mod contract;
mod file;
mod tables;
