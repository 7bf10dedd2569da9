//! Providers that carry messages: one file each.

mod console;
mod sandbox;

pub use console::ConsoleGateway;
pub use sandbox::{SandboxGateway, SandboxOptions};

#[cfg(test)]
mod fixtures;
