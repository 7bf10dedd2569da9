use super::{Answer, Failure, OneProject, open};
use crate::config::Config;
use clap::Subcommand;
use dwar_app::RegenerateKeyError;
use dwar_kernel::KeyMode;
use dwar_operator::By;
use serde_json::json;

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
    let projects = open(config, false).await?.parts.manage_projects();
    let key = projects.regenerate_key(&By::command_line(), project, mode).await;
    let key = key.map_err(|cause| match cause {
        RegenerateKeyError::NoSuchProject => Failure::NoSuchProject(project),
        RegenerateKeyError::Forbidden => Failure::Refused(cause.to_string()),
        RegenerateKeyError::Store(cause) => cause.into(),
    })?;
    let key = key.expose();
    let json = json!({ "project_id": project.to_string(), "mode": mode.as_str(), "key": key });
    let text =
        format!("New {mode} key  {key}\n\nIt is shown this once; the old one no longer works.");
    Ok(Answer::new(json, text))
}
