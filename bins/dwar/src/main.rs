//! Dwar: phone one-time-password authentication that a team runs itself.

mod bounds;
mod cli;
mod colours;
mod config;
mod counted;
mod descriptors;
mod hardening;
mod modes;
mod owner;
mod strength;
mod telemetry;
mod wiring;

use std::process::ExitCode;
use tikv_jemallocator::Jemalloc;

/// Returns memory to the system after a flood of connections (docs/adr/0013). The only static of
/// the program, because Rust has no other way to choose an allocator.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    cli::run()
}
