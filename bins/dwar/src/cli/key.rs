use super::answer::Answer;
use super::confirm::{Confirm, Person};
use super::failure::{Failure, of};
use super::open::{OneProject, Usage, open};
use crate::config::Config;
use clap::Subcommand;
use dwar_admin::views::NewKey;
use dwar_kernel::KeyMode;
use dwar_operator::Requester;

#[derive(Subcommand)]
pub enum Command {
    /// Replace an API key; the old one stops working immediately
    Regenerate {
        #[command(flatten)]
        of: OneProject,
        /// Which key: live or test
        #[arg(long, value_name = "live|test")]
        mode: KeyMode,
        #[command(flatten)]
        confirm: Confirm,
    },
}

pub async fn run(config: Config, command: Command, person: Person) -> Result<Answer, Failure> {
    let Command::Regenerate { of: it, mode, confirm } = command;
    let projects = open(config, Usage::Changes).await?.management()?.projects;
    let (by, project) = (Requester::command_line(), it.id(&projects).await?);
    if confirm.asks(person) {
        let found = projects.show(&by, project).await.map_err(of(project))?;
        let question = format!(
            "Replace the {mode} key of {} ({project})? The old one stops working immediately.",
            found.name
        );
        confirm.ask(person, &question)?;
    }
    let project_mode = project.in_mode(mode);
    let key = projects.regenerate_key(&by, project_mode, None).await;
    let key = key.map_err(of(project))?;
    let text = format!(
        "New {mode} key  {}\n\nCopy it now. You will not see it again. The old key no longer works.",
        key.expose()
    );
    Ok(Answer::of(&NewKey::new(project_mode, &key), text))
}
