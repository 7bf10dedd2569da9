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

/// Returns memory to the system that a flood of connections took (docs/adr/0013). The one static of
/// the program: the language has no other way to name an allocator.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

fn main() -> ExitCode {
    cli::run()
}
