//! Shared by the tests of this crate.

pub mod captured_logs;
pub mod contract;
pub mod fake_vendor;
pub mod fixtures;
// The example of docs/adding-an-adapter.md.
mod telepost;
