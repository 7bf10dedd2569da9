use super::answer::{Answer, lines};
use super::confirm::{Confirm, Person};
use super::failure::{Failure, of};
use super::open::{OneProject, Usage, open};
use super::project_settings::{Settings, told};
use crate::config::Config;
use clap::Subcommand;
use dwar_admin::views::{self, Key, Page, ProjectSettings, ProjectSummary, UnlockedPhone, instant};
use dwar_app::{CreatedProject, sms_preview};
use dwar_console::{UnlockPhone, Unlocked};
use dwar_kernel::{Phone, ProjectId};
use dwar_operator::Requester;
use dwar_otp::{GuessBudget, SendPace};
use dwar_project::{KeyRecord, Project, ProjectName, Setting};
use dwar_wallet::Amount;
use serde::Serialize;

#[derive(Subcommand)]
pub enum Command {
    /// Create a project and print its two API keys, once
    #[command(alias = "add")]
    Create {
        /// Its name, which messages show too
        #[arg(long)]
        name: ProjectName,
        /// Opening balance of its wallet, such as 100 or 99.50
        #[arg(long, value_name = "RUPEES", default_value = "0", value_parser = Amount::from_rupees)]
        balance_rupees: Amount,
    },
    /// List every project, including archived ones
    List,
    /// Show the settings of a project and the last characters of its keys
    Show(OneProject),
    /// Change a project's settings; changes apply immediately
    Set {
        #[command(flatten)]
        of: OneProject,
        #[command(flatten)]
        settings: Box<Settings>,
    },
    /// Archive a project: its API keys are refused immediately, and nothing is lost
    Archive {
        #[command(flatten)]
        of: OneProject,
        #[command(flatten)]
        confirm: Confirm,
    },
    /// Restore an archived project: its API keys are accepted again
    Restore(OneProject),
    /// Clear the failed attempts of a phone number (live key)
    Unlock {
        #[command(flatten)]
        of: OneProject,
        /// The phone number, with or without +91
        #[arg(long, value_name = "NUMBER")]
        phone: Phone,
    },
}

pub async fn run(config: Config, command: Command, person: Person) -> Result<Answer, Failure> {
    let usage = match command {
        Command::List | Command::Show(_) => Usage::Reads,
        Command::Create { .. } => Usage::Begins,
        _ => Usage::Changes,
    };
    let core = open(config, usage).await?;
    let (manage, by) = (core.management()?, Requester::command_line());
    let projects = &manage.projects;
    match command {
        Command::Create { name, balance_rupees } => {
            Ok(created(&projects.create(&by, &name, balance_rupees).await?))
        }
        Command::List => Ok(listed(&projects.list(&by).await?)),
        Command::Show(it) => {
            let project = it.id(projects).await?;
            let found = projects.show(&by, project).await.map_err(of(project))?;
            Ok(shown(&found, &projects.keys(&by, project).await?))
        }
        Command::Set { of: it, settings } => {
            let project = it.id(projects).await?;
            let changed = projects.change(&by, project, settings.0).await;
            let changed = changed.map_err(of(project))?;
            Ok(Answer::of(&ProjectSettings::from(&changed), text_of(&changed)))
        }
        Command::Archive { of: it, confirm } => {
            let project = it.id(projects).await?;
            if confirm.asks(person) {
                let found = projects.show(&by, project).await.map_err(of(project))?;
                let question = format!(
                    "Archive {} ({project})? Its API keys are refused immediately.",
                    found.name
                );
                confirm.ask(person, &question)?;
            }
            let archived = projects.archive(&by, project).await.map_err(of(project))?;
            Ok(Answer::of(&ProjectSettings::from(&archived), text_of(&archived)))
        }
        Command::Restore(it) => {
            let project = it.id(projects).await?;
            let restored = projects.restore(&by, project).await.map_err(of(project))?;
            Ok(Answer::of(&ProjectSettings::from(&restored), text_of(&restored)))
        }
        Command::Unlock { of: it, phone } => {
            unlocked(&manage.phones, it.id(projects).await?, &phone).await
        }
    }
}

fn created(project: &CreatedProject) -> Answer {
    let text = format!(
        "Project   {} ({})\nBalance   {}\nLive key  {}\nTest key  {}\n\n\
         Copy the keys now. You will not see them again; `dwar key regenerate` replaces them.",
        project.name,
        project.id,
        project.balance,
        project.live_key.expose(),
        project.test_key.expose(),
    );
    Answer::of(&views::CreatedProject::from(project), text)
}

fn listed(all: &[Project]) -> Answer {
    let line = |one: &Project| {
        let archived = one.archived_at.map(|at| format!("  (archived {})", instant(at)));
        format!("{}  {}{}", one.id, one.name, archived.unwrap_or_default())
    };
    let none = "No projects yet. Create one with `dwar project create`.";
    Answer::of(&Page::whole(all.iter().map(ProjectSummary::from)), lines(all, line, none))
}

/// A project with the parts of its keys that may be shown.
#[derive(Serialize)]
struct ProjectWithKeys {
    #[serde(flatten)]
    settings: ProjectSettings,
    keys: Vec<Key>,
}

fn shown(project: &Project, keys: &[KeyRecord]) -> Answer {
    let line = |key: &KeyRecord| {
        let name = format!("{} key", key.mode);
        format!("{name:<18} …{} since {}", key.ending, instant(key.created_at))
    };
    let text = format!("{}\n{}", text_of(project), lines(keys, line, ""));
    let keys = keys.iter().map(Key::from).collect();
    Answer::of(&ProjectWithKeys { settings: project.into(), keys }, text)
}

async fn unlocked(
    phones: &UnlockPhone,
    project: ProjectId,
    phone: &Phone,
) -> Result<Answer, Failure> {
    let unlocked =
        phones.unlock(&Requester::command_line(), project, phone).await.map_err(of(project))?;
    let Unlocked { guesses, pace } = unlocked;
    let lifted = match pace {
        SendPace::Usual => "Sends were not limited.".to_owned(),
        SendPace::OnePer(window) => format!("Limit removed: one send per {} s.", window.as_secs()),
        SendPace::Stopped(rest) => {
            format!("Limit removed: no sends for another {} s.", rest.as_secs())
        }
    };
    let in_all = guesses.period.map_or_else(String::new, |period| {
        format!(", {} since {}", period.wrong, instant(period.began_at))
    });
    let text = if guesses == GuessBudget::default() {
        "Nothing to clear: no failed attempts on record for this number.".to_owned()
    } else {
        format!("{lifted}\nFailed attempts cleared: {} in a row{in_all}.", guesses.wrong)
    };
    Ok(Answer::of(&UnlockedPhone::new(project, phone, &unlocked), text))
}

fn text_of(project: &Project) -> String {
    let sms = match sms_preview(project) {
        Ok(sms) => sms.segments.to_string(),
        Err(cause) => format!("cannot be sent: {cause}"),
    };
    let mut rows = Vec::new();
    for (setting, label, value) in told(project) {
        match setting {
            Setting::Name => {
                rows.push((label, format!("{value} ({})", project.id)));
                let archived = project.archived_at.map_or_else(|| "no".to_owned(), instant);
                rows.push(("Archived", archived));
            }
            Setting::SmsText => rows.extend([(label, value), ("SMS length", sms.clone())]),
            _ => rows.push((label, value)),
        }
    }
    lines(&rows, |(name, value)| format!("{name:<18} {value}"), "")
}
