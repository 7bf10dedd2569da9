//! `dwar completion`: the script with which a shell completes commands.

use super::answer::Answer;
use clap::{Command, ValueEnum};
use clap_complete::{Shell as Generator, generate};
use serde_json::json;

#[derive(clap::Args)]
pub struct Args {
    /// The shell that reads the script
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Zsh,
    Fish,
}

/// Generates the completion script for `commands`. Reads no configuration.
pub fn run(asked: &Args, mut commands: Command) -> Answer {
    let (shell, generator) = match asked.shell {
        Shell::Bash => ("bash", Generator::Bash),
        Shell::Zsh => ("zsh", Generator::Zsh),
        Shell::Fish => ("fish", Generator::Fish),
    };
    let mut script = Vec::new();
    generate(generator, &mut commands, "dwar", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    Answer::of(&json!({ "shell": shell, "script": script }), script)
}
