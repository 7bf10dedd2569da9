//! The command line: its commands, and how answers are printed.

mod activity;
mod admin_token;
#[cfg(test)]
mod alike_tests;
mod answer;
mod audit;
mod backup;
mod completion;
mod confirm;
mod doctor;
mod doctor_online;
mod failure;
mod health;
mod hook;
mod key;
mod ledger_export;
#[cfg(test)]
mod names_tests;
mod open;
mod operator;
mod project;
mod project_settings;
mod restore;
mod serve;
mod signals;
mod signing_key;
mod r#try;
mod wallet;
mod wallet_close;
mod wallet_proof;
mod webhook;

use crate::config::{self, Config};
use crate::owner::become_owner_of_data;
use crate::wiring::{Access, Core, Location};
use crate::{hardening, telemetry};
use answer::Answer;
use clap::{CommandFactory, Parser, Subcommand};
use confirm::Person;
use failure::Failure;
use open::runtime;
use serde_json::json;
use std::io::{ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// Phone one-time-password authentication that a team runs itself.
///
/// Without a command, `dwar` serves. Settings come from dwar.toml (or --config), then from
/// DWAR__SECTION__KEY variables, then from those of --env-file. Logs go to standard error, answers to
/// standard output. Exit status: 0 done, 1 refused or failed, 2 wrong usage.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
struct Args {
    /// Configuration file [default: dwar.toml, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// File of DWAR__SECTION__KEY=value lines, read as systemd reads an EnvironmentFile
    #[arg(long, global = true, value_name = "FILE")]
    env_file: Option<PathBuf>,
    /// Print the answer as one JSON object
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run the service (what `dwar` alone does)
    Serve,
    /// Bring the database up to date and exit
    Migrate,
    /// Create, list, show and change projects
    #[command(subcommand)]
    Project(project::Command),
    /// Replace API keys
    #[command(subcommand)]
    Key(key::Command),
    /// Add credit to, show and check prepaid wallets
    #[command(subcommand)]
    Wallet(wallet::Command),
    /// List and rotate the keys that sign access tokens
    #[command(subcommand)]
    SigningKey(signing_key::Command),
    /// Manage the endpoints that receive a project's events
    #[command(subcommand)]
    Webhook(webhook::Command),
    /// Manage the addresses that other login systems call to have their codes delivered
    #[command(subcommand)]
    Hook(hook::Command),
    /// Add, list, reset and remove operators
    #[command(subcommand)]
    Operator(operator::Command),
    /// Add, list and remove tokens of the admin API
    #[command(subcommand)]
    AdminToken(admin_token::Command),
    /// Print requested codes, newest first, and what happened to each
    Activity(activity::Args),
    /// Print the audit log
    Audit(audit::Args),
    /// Write a checked copy of the embedded database to a file, also while the service runs
    ///
    /// The copy holds no key: keep the master key as well. Nothing is overwritten.
    Backup(backup::Args),
    /// Replace the database with a backup, and settle what the old state would repeat
    ///
    /// The service has to be stopped. Codes in force are withdrawn, sends under way end without
    /// another message, sessions end. The former database is kept beside the new one.
    Restore(restore::Args),
    /// Check configuration, database, migrations, keys and gateways
    Doctor(doctor::Args),
    /// Ask the running service at http.address whether it is ready
    ///
    /// For health checks of containers and supervisors: exit status 0 if it is ready, 1 if not.
    Health,
    /// Log in once, step by step, to a running service or to one in memory
    ///
    /// Without --url, the service is started in memory for the time of the command and called with
    /// its own test key; with it, the API key is read from DWAR_KEY, since others on this machine
    /// can read arguments. No configuration is read. Exit status 0 means that every step went well.
    Try(r#try::Args),
    /// Print the script that completes commands in a shell
    ///
    /// For the current user:
    /// `dwar completion bash >~/.local/share/bash-completion/completions/dwar`,
    /// `dwar completion zsh >_dwar` in a folder of $fpath,
    /// `dwar completion fish >~/.config/fish/completions/dwar.fish`. The Debian package has them.
    Completion(completion::Args),
}

/// The exit status of a tool after its reader closed the pipe, as shells report it: 128 plus
/// SIGPIPE.
const UNREAD: u8 = 141;

pub fn run() -> ExitCode {
    let args = Args::parse();
    let json = args.json;
    match execute(args) {
        Ok(status) => status,
        Err(Failure::System(cause)) if cause.kind() == ErrorKind::BrokenPipe => UNREAD.into(),
        Err(failure) => {
            // If standard output and error are closed too, nothing is left to do.
            if let Some(code) = failure.code().filter(|_| json) {
                let refusal = json!({ "error": failure.to_string(), "code": code });
                let _ = writeln!(std::io::stdout(), "{refusal}");
            }
            let _ = writeln!(std::io::stderr(), "dwar: {}", failure.told());
            if matches!(failure, Failure::Usage(_)) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

fn execute(args: Args) -> Result<ExitCode, Failure> {
    hardening::seal_process().map_err(|cause| {
        Failure::Refused(format!(
            "the system does not allow this process to protect its memory: {cause}"
        ))
    })?;
    let command = args.command.unwrap_or(Command::Serve);
    if let Command::Completion(asked) = &command {
        return completion::run(asked, Args::command()).print(args.json);
    }
    let person = Person::of(args.json);
    let loaded = match command {
        Command::Try(_) => r#try::config(),
        _ => config::load(args.config.as_deref(), args.env_file.as_deref(), std::env::vars_os()),
    };
    let config = match loaded {
        Ok(config) => config,
        Err(cause) if matches!(command, Command::Doctor(_)) => {
            return doctor::unconfigured(&cause).print(args.json);
        }
        Err(cause) => return Err(cause.into()),
    };
    // Called after all files were read that only root may read, and before the first thread starts.
    // Backup and restore use files elsewhere and handle the owner of the database themselves.
    if !matches!(command, Command::Backup(_) | Command::Restore(_)) {
        become_owner_of_data(&config)?;
    }
    // Commands are short and their users see the result, so only the service is traced.
    let traces = matches!(command, Command::Serve).then_some(&config.traces);
    let telemetry = telemetry::start(&config.log, traces)?;
    let bearable =
        matches!(command, Command::Serve | Command::Doctor(_) | Command::Health | Command::Try(_));
    if !bearable && Location::of(&config.database)? == Location::Memory {
        return Err(Failure::Refused(
            "database.url is memory:, which exists only inside `dwar serve`; other commands cannot \
             use it"
                .to_owned(),
        ));
    }
    match command {
        Command::Serve => serve::run(config, telemetry.lost.clone()),
        Command::Migrate => answer(args.json, migrate(config)),
        Command::Project(command) => answer(args.json, project::run(config, command, person)),
        Command::Key(command) => answer(args.json, key::run(config, command, person)),
        Command::Wallet(command) => answer(args.json, wallet::run(config, command, person)),
        Command::SigningKey(command) => answer(args.json, signing_key::run(config, command)),
        Command::Webhook(command) => answer(args.json, webhook::run(config, command, person)),
        Command::Hook(command) => answer(args.json, hook::run(config, command, person)),
        Command::Operator(command) => answer(args.json, operator::run(config, command, person)),
        Command::AdminToken(command) => {
            answer(args.json, admin_token::run(config, command, person))
        }
        Command::Activity(asked) => runtime()?.block_on(activity::run(config, asked, args.json)),
        Command::Audit(asked) => runtime()?.block_on(audit::run(config, asked, args.json)),
        Command::Backup(asked) => backup::run(&config, &asked)?.print(args.json),
        Command::Restore(asked) => answer(args.json, restore::run(config, asked, person)),
        Command::Doctor(asked) => answer(args.json, doctor::run(config, asked)),
        Command::Health => answer(args.json, health::run(config)),
        Command::Completion(asked) => completion::run(&asked, Args::command()).print(args.json),
        Command::Try(asked) => r#try::run(config, asked, args.json, telemetry.lost.clone()),
    }
}

/// Runs a command on a small runtime of its own and prints its answer.
fn answer(
    json: bool,
    command: impl Future<Output = Result<Answer, Failure>>,
) -> Result<ExitCode, Failure> {
    runtime()?.block_on(command)?.print(json)
}

async fn migrate(config: Config) -> Result<Answer, Failure> {
    let applied = Core::open(config, Access::Write).await?.migrate().await?;
    let text = match applied.as_slice() {
        [] => "The database is up to date.".to_owned(),
        applied => format!("Applied {}.", applied.join(", ")),
    };
    Ok(Answer::of(&json!({ "applied": applied }), text))
}
