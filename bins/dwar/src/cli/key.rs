use super::{Answer, Failure, OneProject, of, open};
use crate::config::Config;
use clap::Subcommand;
use dwar_admin::views::NewKey;
use dwar_kernel::KeyMode;
use dwar_operator::By;

#[derive(Subcommand)]
pub enum Command {
    /// Put a new API key in the place of the present one, which ends before this returns
    Regenerate {
        #[command(flatten)]
        of: OneProject,
        /// Which of its two keys: live or test
        #[arg(long, value_name = "live|test")]
        mode: KeyMode,
    },
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    let Command::Regenerate { of: OneProject { project }, mode } = command;
    let projects = open(config, false).await?.management()?.projects;
    let key = projects.regenerate_key(&By::command_line(), project, mode, None).await;
    let key = key.map_err(of(project))?;
    let text = format!(
        "New {mode} key  {}\n\nIt is shown this once; the old one no longer works.",
        key.expose()
    );
    Ok(Answer::of(&NewKey::new(project, mode, &key), text))
}
