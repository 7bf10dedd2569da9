//! Tests of the store in an SQLite file: the contract of the ports, and the storage.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "everything here runs inside tests")]

mod common;
mod contract;
mod file;
mod tables;
