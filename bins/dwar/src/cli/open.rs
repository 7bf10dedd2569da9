use super::failure::Failure;
use crate::config::Config;
use crate::counted::counted;
use crate::wiring::{Access, Core, Location};
use dwar_console::{ManageError, ManageProjects};
use dwar_kernel::ProjectId;
use dwar_operator::Requester;
use std::str::FromStr;

#[derive(clap::Args)]
pub struct OneProject {
    /// Name or ID of the project, or the first characters of its ID, at least 4
    #[arg(long)]
    project: ProjectRef,
}

impl OneProject {
    /// The project's id.
    ///
    /// # Errors
    /// No project matches, or several do.
    pub async fn id(&self, projects: &ManageProjects) -> Result<ProjectId, Failure> {
        self.project.id(projects).await
    }
}

#[derive(Clone)]
pub enum ProjectRef {
    /// A whole id, which is used without a look-up.
    Id(ProjectId),
    Text(String),
}

impl FromStr for ProjectRef {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text.parse(), text.trim()) {
            (Ok(id), _) => Ok(Self::Id(id)),
            // For example a shell variable that was never set.
            (Err(_), "") => Err("a name or an id"),
            (Err(_), text) => Ok(Self::Text(text.to_owned())),
        }
    }
}

impl ProjectRef {
    /// As [`OneProject::id`].
    pub async fn id(&self, projects: &ManageProjects) -> Result<ProjectId, Failure> {
        match self {
            Self::Id(id) => Ok(*id),
            Self::Text(text) => match projects.named(&Requester::command_line(), text).await {
                Ok(found) => Ok(found.id),
                Err(ManageError::NoSuchProject) => Err(Failure::NoSuchProject(text.clone())),
                Err(refused) => Err(refused.into()),
            },
        }
    }
}

/// How a command uses the database.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    Reads,
    /// Changes what is there, so there has to be a database.
    Changes,
    /// May be the first command of an installation, and then makes the database.
    Begins,
}

impl Usage {
    /// The usage of a command that changes nothing if `only_reads`.
    pub const fn of(only_reads: bool) -> Self {
        if only_reads { Self::Reads } else { Self::Changes }
    }
}

/// Opens the store, and migrates it for commands that write.
///
/// A file that is missing is refused, unless the command may begin an installation: in another folder
/// than that of the service, a new database would answer that it knows no project.
pub async fn open(config: Config, usage: Usage) -> Result<Core, Failure> {
    if usage != Usage::Begins
        && let Location::Sqlite(file) = Location::of(&config.database)?
        && !file.exists()
        // A missing folder has a message of its own.
        && file.parent().is_none_or(|folder| folder.as_os_str().is_empty() || folder.exists())
    {
        return Err(Failure::Refused(format!(
            "there is no database {}: run this command in the folder of the service, or set \
             database.url; `dwar serve` makes a new one",
            file.display()
        )));
    }
    let access = if usage == Usage::Reads { Access::Read } else { Access::Write };
    let core = Core::open(config, access).await?;
    if access == Access::Write {
        core.migrate().await?;
        // Written records contain a time that every instance relies on.
        if core.compare_clocks().await? {
            let trouble = core.parts.tools.watch.trouble().unwrap_or_default();
            return Err(Failure::Refused(format!("{trouble}; set it right, then try again")));
        }
        return Ok(core);
    }
    match core.database.pending_migrations().await?.len() {
        0 => {
            core.compare_keys().await?;
            Ok(core)
        }
        lacking => Err(Failure::Refused(format!(
            "{}, and this command only reads: run `dwar migrate`, or start the service",
            counted(lacking as u64, "migration is pending", "migrations are pending")
        ))),
    }
}

pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
