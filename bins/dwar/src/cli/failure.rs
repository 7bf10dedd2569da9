use crate::config::ConfigError;
use crate::wiring::WiringError;
use crate::wiring::causes::{self, Cause};
use dwar_console::ManageError;
use dwar_kernel::{ProjectId, StoreError, with_causes};

pub const ADVICE: &str = "      → ";

/// Why a command failed, as a sentence for a person.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Refused(String),
    /// Refused like an error of the command line itself: exit status 2.
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
    /// The code of the admin API, if the failure comes from management.
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

    /// The known cause of the failure, if it concerns database, files or addresses.
    fn usual(&self) -> Option<Cause> {
        match self {
            Self::Wiring(cause) => causes::usual(cause),
            Self::Store(cause) => causes::usual(cause),
            _ => None,
        }
    }

    /// The message for a person at the terminal: the usual cause in words if it is one, every known
    /// cause, and advice. That person runs the service, so the message names hosts, users,
    /// databases and files, but never a secret.
    pub fn told(&self) -> String {
        let causes = match self {
            Self::Store(cause) | Self::Wiring(WiringError::Store(cause)) => with_causes(cause),
            // These errors include their causes, and some are lists.
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

/// Makes the failure of a command about a project that does not exist.
pub fn of(project: ProjectId) -> impl Fn(ManageError) -> Failure {
    move |cause| match cause {
        ManageError::NoSuchProject => Failure::NoSuchProject(project.to_string()),
        cause => cause.into(),
    }
}
