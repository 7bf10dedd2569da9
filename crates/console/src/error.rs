use dwar_kernel::{StoreError, Timestamp};
use dwar_project::InvalidSetting;
use std::fmt::Display;

/// Why a command was not carried out, the same for command line, admin API and pages. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    #[error("your role does not allow this")]
    Forbidden,
    /// The token may not make things that outlive it.
    #[error(
        "this token has no right to delegate, so it cannot create what keeps working after it \
         expires: a key, hook, endpoint, token or operator"
    )]
    MayNotDelegate,
    /// There is no such project, or the caller may not see it.
    #[error("there is no project with this id")]
    NoSuchProject,
    /// The project has no such thing, or the caller may not see it.
    #[error("there is no {0}")]
    NotFound(&'static str),
    #[error("{reason}")]
    Invalid { field: &'static str, reason: String },
    /// The state is not the one that the caller expects.
    #[error("{0}")]
    Conflict(&'static str),
    /// The caller sees phone numbers masked and searched for too many.
    #[error("without the right to see phone numbers you can search for 60 an hour and 200 a day")]
    SearchedTooMuch {
        until: Timestamp,
        /// Whole seconds until then.
        seconds: u64,
    },
    /// The store failed: the command may have been carried out or not.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ManageError {
    /// The stable error code of a refusal; `None` for a store that failed.
    pub const fn code(&self) -> Option<&'static str> {
        match self {
            Self::Forbidden | Self::MayNotDelegate => Some("FORBIDDEN"),
            Self::NoSuchProject | Self::NotFound(_) => Some("NOT_FOUND"),
            Self::Invalid { .. } => Some("INVALID_FIELD"),
            Self::Conflict(_) => Some("CONFLICT"),
            Self::SearchedTooMuch { .. } => Some("SEARCH_RATE_LIMITED"),
            Self::Store(_) => None,
        }
    }

    /// The error for a field with an invalid value.
    pub fn invalid(field: &'static str, reason: impl Display) -> Self {
        Self::Invalid { field, reason: reason.to_string() }
    }

    /// The error that ends an answer which is read in pieces: the store failed, or the caller lost the right
    /// meanwhile.
    pub fn into_store_error(self) -> StoreError {
        match self {
            Self::Store(cause) => cause,
            refused => StoreError::Failed(Box::new(refused)),
        }
    }
}

impl From<InvalidSetting> for ManageError {
    fn from(InvalidSetting { field, reason }: InvalidSetting) -> Self {
        Self::Invalid { field, reason }
    }
}
