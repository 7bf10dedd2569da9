use super::{Answer, Failure, no_such_project, open};
use crate::config::Config;
use clap::Subcommand;
use dwar_app::RegenerateKeyError;
use dwar_kernel::{KeyMode, ProjectId};
use serde_json::json;

#[derive(Subcommand)]
pub enum Command {
    /// Put a new API key in the place of the present one, which ends before this returns
    Regenerate {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// Which of its two keys: live or test
        #[arg(long, value_name = "live|test")]
        mode: KeyMode,
    },
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    let Command::Regenerate { project, mode } = command;
    let projects = open(config).await?.parts.manage_projects();
    let key = projects.regenerate_key(project, mode).await.map_err(|cause| match cause {
        RegenerateKeyError::NoSuchProject => no_such_project(project),
        RegenerateKeyError::Store(cause) => cause.into(),
    })?;
    let json = json!({
        "project_id": project.to_string(),
        "mode": mode.as_str(),
        "key": key.expose(),
    });
    let text = format!(
        "New {mode} key  {}\n\nIt is shown this once; the old one no longer works.",
        key.expose()
    );
    Ok(Answer::new(json, text))
}
