//! Runs clients against instances while faults happen, and checks the answers.
//!
//! `scripts/check-history.sh` builds and starts everything that this needs.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "its answer is what it prints")]

mod calls;
mod checks;
mod clients;
mod cluster;
mod crowd;
mod database;
mod draw;
mod history;
mod nemesis;
mod owner;
mod process;
mod provider;
mod proxy;
mod recorder;
mod report;
mod run;
mod world;

use clap::Parser;
use database::Database;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Any error of the checker itself ends the run.
pub type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Checks the promises of the service against the answers to concurrent clients.
#[derive(Parser)]
pub struct Arguments {
    /// The service
    #[arg(long)]
    binary: PathBuf,
    /// A folder of its own
    #[arg(long)]
    folder: PathBuf,
    /// The port of a PostgreSQL on loopback that may be restarted; without it there is one instance, on a
    /// SQLite file in the folder
    #[arg(long, requires = "pg_ctl")]
    postgres: Option<u16>,
    /// The command that restarts PostgreSQL, less `-m MODE restart`; words at blanks
    #[arg(long, requires = "postgres")]
    pg_ctl: Option<String>,
    /// A database of the user dwar there, empty
    #[arg(long, default_value = "postgres")]
    database: String,
    /// How long clients call
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// What operations and faults are drawn from
    #[arg(long)]
    seed: u64,
    /// How many clients there are
    #[arg(long, default_value_t = 12)]
    clients: u64,
    /// Where the history goes if something is wrong
    #[arg(long, default_value = "history.jsonl")]
    history: PathBuf,
}

#[tokio::main]
async fn main() -> Outcome<ExitCode> {
    let arguments = Arguments::parse();
    let (seed, seconds) = (arguments.seed, arguments.seconds);
    println!("history: seed {seed}, {seconds} s, {} clients", arguments.clients);
    let database = Database::of(&arguments);
    if let Some(left_out) = database.leaves_out() {
        println!("history: {left_out}");
    }
    let history = run::run(&arguments, database).await?;
    let violations = checks::all(&history);
    println!("{}", report::summary(&history));
    // One cause has many effects; the first few are enough.
    for violation in violations.iter().take(10) {
        println!("{}", report::describe(&history, violation));
    }
    let checks: Vec<_> = checks::CHECKS.iter().map(|(check, _)| *check).collect();
    let count = |check: &&str| violations.iter().filter(|one| one.check == *check).count();
    let counts: Vec<_> = checks.iter().map(|check| format!("{check} {}", count(check))).collect();
    println!("history: seed {seed}: {} violations ({})", violations.len(), counts.join(", "));
    if violations.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    std::fs::write(&arguments.history, history.lines().join("\n") + "\n")?;
    println!("history: all of it is in {}", arguments.history.display());
    Ok(ExitCode::FAILURE)
}
