use super::answer::instant;
use super::project_settings::Settings;
use super::project_view::{json_of, text_of};
use super::{Answer, Failure, look, no_such_project, open, unlock};
use crate::config::Config;
use crate::wiring::{Available, available_providers};
use clap::{Args, Subcommand};
use dwar_app::ManageProjects;
use dwar_kernel::{Phone, ProjectId};
use dwar_project::{KeyRecord, Project};
use dwar_wallet::Paise;
use serde_json::{Value, json};
use std::fmt::Write;

#[derive(Subcommand)]
pub enum Command {
    /// Create a project and print its two API keys, once
    Create(Create),
    /// List every project
    List,
    /// Show one project, its settings and the last characters of its keys
    Show {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
    },
    /// Change a project's settings, for the very next request
    Set(Box<Set>),
    /// Lift what wrong codes put in the way of a phone, for its very next send with the live key
    Unlock {
        /// The project's id
        #[arg(long, value_name = "ID")]
        project: ProjectId,
        /// The phone number, with or without +91
        #[arg(long, value_name = "NUMBER")]
        phone: Phone,
    },
}

#[derive(Args)]
pub struct Create {
    /// What people call it; it stands in the messages too
    #[arg(long)]
    name: String,
    /// Opening balance of its wallet, such as 100 or 99.50
    #[arg(long, value_name = "RUPEES", default_value = "0", value_parser = Paise::from_rupees)]
    balance_rupees: Paise,
}

#[derive(Args)]
pub struct Set {
    /// The project's id
    #[arg(long, value_name = "ID")]
    project: ProjectId,
    #[command(flatten)]
    settings: Settings,
}

pub async fn run(config: Config, command: Command) -> Result<Answer, Failure> {
    let providers = available_providers(&config)?;
    let core = match command {
        Command::List | Command::Show { .. } => look(config).await?,
        _ => open(config).await?,
    };
    let projects = core.parts.manage_projects();
    match command {
        Command::Create(create) => created(&projects, create).await,
        Command::List => listed(&projects).await,
        Command::Show { project } => {
            let found = projects.show(project).await?.ok_or_else(|| no_such_project(project))?;
            Ok(shown(&found.0, &found.1))
        }
        Command::Set(set) => changed(&projects, *set, &providers).await,
        Command::Unlock { project, phone } => {
            unlock::run(&core.parts.unlock_phone(), project, &phone).await
        }
    }
}

async fn changed(
    projects: &ManageProjects,
    set: Set,
    providers: &Available,
) -> Result<Answer, Failure> {
    let unknown = || no_such_project(set.project);
    let (before, _) = projects.show(set.project).await?.ok_or_else(unknown)?;
    let change = set.settings.change(&before, providers)?;
    let changed = projects.change(set.project, change).await?.ok_or_else(unknown)?;
    Ok(Answer::new(json_of(&changed), text_of(&changed)))
}

async fn created(projects: &ManageProjects, create: Create) -> Result<Answer, Failure> {
    let project = projects.create(&named(create.name)?, create.balance_rupees).await?;
    let json = json!({
        "project_id": project.id.to_string(),
        "name": project.name,
        "live_key": project.live_key.expose(),
        "test_key": project.test_key.expose(),
        "balance_paise": project.balance.0,
    });
    let text = format!(
        "Project   {} ({})\nBalance   {}\nLive key  {}\nTest key  {}\n\n\
         The keys are shown this once; `dwar key regenerate` makes new ones.",
        project.name,
        project.id,
        project.balance,
        project.live_key.expose(),
        project.test_key.expose(),
    );
    Ok(Answer::new(json, text))
}

async fn listed(projects: &ManageProjects) -> Result<Answer, Failure> {
    let all = projects.list().await?;
    let json: Vec<Value> = all.iter().map(json_of).collect();
    let lines: Vec<String> = all.iter().map(|one| format!("{}  {}", one.id, one.name)).collect();
    let text = if lines.is_empty() {
        "There is no project yet; `dwar project create` makes one.".to_owned()
    } else {
        lines.join("\n")
    };
    Ok(Answer::new(json!({ "projects": json }), text))
}

fn shown(project: &Project, keys: &[KeyRecord]) -> Answer {
    let mut json = json_of(project);
    json["keys"] = keys
        .iter()
        .map(|key| {
            json!({
                "id": key.id.to_string(),
                "mode": key.mode.as_str(),
                "last_four": key.last_four,
                "created_at": instant(key.created_at),
            })
        })
        .collect();
    let mut text = text_of(project);
    for key in keys {
        // Writing to a String cannot fail.
        let _ = write!(
            text,
            "\n{:<18} …{} since {}",
            format!("{} key", key.mode),
            key.last_four,
            instant(key.created_at)
        );
    }
    Answer::new(json, text)
}

/// Names stand in messages: something visible, on one line, not too long.
pub fn named(name: String) -> Result<String, Failure> {
    let fits = !name.trim().is_empty() && name.chars().count() <= 60;
    if fits && !name.chars().any(char::is_control) {
        Ok(name)
    } else {
        Err(Failure("a project's name is 1 to 60 visible characters on one line".to_owned()))
    }
}
