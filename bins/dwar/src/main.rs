//! Dwar: phone one-time-password authentication that a team runs itself.

mod cli;
mod config;
mod descriptors;
mod secret;
mod telemetry;
mod wiring;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
