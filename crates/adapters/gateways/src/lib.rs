//! Providers that carry messages: one file each.

mod console;
mod none;
mod sandbox;
mod timed;

pub use console::ConsoleGateway;
pub use none::NoGateway;
pub use sandbox::{SandboxGateway, SandboxOptions};
pub use timed::TimedGateway;

#[cfg(test)]
mod fixtures;
