use dwar_kernel::{StoreError, Timestamp};
use dwar_project::InvalidSetting;
use std::fmt::Display;

/// Why a command was not carried out: the same for every door. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ManageError {
    #[error("your role does not allow this")]
    Forbidden,
    /// A token that was not made for this.
    #[error(
        "this token was not made with the right to delegate, so it makes nothing that works by itself: \
         no key, hook, endpoint, token or operator"
    )]
    MayNotDelegate,
    /// There is no such project, or the caller may not know of it.
    #[error("there is no project with this id")]
    NoSuchProject,
    /// The project has no such thing, or none that the caller may see.
    #[error("there is no {0}")]
    NotFound(&'static str),
    /// A field has a value that it cannot have.
    #[error("{reason}")]
    Invalid { field: &'static str, reason: String },
    /// It is not as the caller expects it to be.
    #[error("{0}")]
    Conflict(&'static str),
    /// The caller searched for too many phone numbers that they see masked.
    #[error("without the right to see phone numbers you can search for 60 an hour and 200 a day")]
    SearchedTooMuch {
        until: Timestamp,
        /// Whole seconds until then.
        seconds: u64,
    },
    /// The store failed: what was asked for may or may not have been done.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ManageError {
    /// The stable word for a refusal, the same at every door; none for a store that failed.
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

    /// A field with a value that it cannot have, and why.
    pub fn invalid(field: &'static str, reason: impl Display) -> Self {
        Self::Invalid { field, reason: reason.to_string() }
    }

    /// Why an answer that is read piece by piece broke off: the store failed, or the caller lost
    /// the right in between.
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
