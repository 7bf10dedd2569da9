use crate::config::ConfigError;
use crate::wiring::WiringError;
use crate::wiring::causes::{self, Cause};
use dwar_console::ManageError;
use dwar_kernel::{ProjectId, StoreError, with_causes};

/// Begins a line that says what to do.
pub const ADVICE: &str = "      → ";

/// Why a command did not do what it was asked, as a sentence for a person.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Refused(String),
    /// As what the command line itself refuses: exit status 2.
    #[error("{0}")]
    Usage(String),
    #[error("{}", sentence_of(.0))]
    NotDone(ManageError),
    #[error("there is no project {0}; see `dwar project list`")]
    NoSuchProject(String),
    #[error("configuration: {0}")]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Wiring(#[from] WiringError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    System(#[from] std::io::Error),
}

impl From<ManageError> for Failure {
    fn from(cause: ManageError) -> Self {
        match cause {
            ManageError::Store(cause) => cause.into(),
            refused => Self::NotDone(refused),
        }
    }
}

fn sentence_of(refused: &ManageError) -> String {
    match refused {
        ManageError::Invalid { field, reason } => format!("{field}: {reason}"),
        refused => refused.to_string(),
    }
}

impl Failure {
    /// The word that the admin API has for it, if it is one of managing.
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::NotDone(refused) => refused.code(),
            Self::NoSuchProject(_) => ManageError::NoSuchProject.code(),
            Self::Refused(_)
            | Self::Usage(_)
            | Self::Config(_)
            | Self::Wiring(_)
            | Self::Store(_)
            | Self::System(_) => None,
        }
    }

    /// The usual cause it comes from, if that is one of database, files or addresses.
    fn usual(&self) -> Option<Cause> {
        match self {
            Self::Wiring(cause) => causes::usual(cause),
            Self::Store(cause) => causes::usual(cause),
            _ => None,
        }
    }

    /// What a person at the terminal is told: the usual cause in words if it is one, every cause that
    /// is known, and what to do. They run the service, so it names hosts, users, databases and files;
    /// none of it holds a secret.
    pub fn told(&self) -> String {
        let causes = match self {
            Self::Store(cause) | Self::Wiring(WiringError::Store(cause)) => with_causes(cause),
            // They say their causes themselves, and some are lists.
            _ => self.to_string(),
        };
        match (self.usual(), self) {
            (Some(Cause { what, advice }), _) => format!("{what}: {causes}\n{ADVICE}{advice}"),
            (None, Self::Store(cause)) if !matches!(cause, StoreError::Foreign(_)) => {
                format!("the database failed: {causes}\n{ADVICE}run `dwar doctor`")
            }
            (None, _) => causes,
        }
    }
}

/// What a command about a project says if there is no such project.
pub fn of(project: ProjectId) -> impl Fn(ManageError) -> Failure {
    move |cause| match cause {
        ManageError::NoSuchProject => Failure::NoSuchProject(project.to_string()),
        cause => cause.into(),
    }
}
