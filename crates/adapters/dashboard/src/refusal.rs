use crate::address::PageAddress;
use crate::texts::refusals as texts;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use dwar_console::{ManageError, SignInError};
use dwar_kernel::{StoreError, Timestamp};
use dwar_wire::store_failed;
use std::fmt;

/// To whoever meets a queue that is full; it moves within a second.
pub(crate) const RETRY_SOON: (HeaderName, HeaderValue) =
    (header::RETRY_AFTER, HeaderValue::from_static("1"));

/// Why there is no page. Each is a page of its own, but for who has to sign in first.
#[derive(Debug)]
pub enum Refusal {
    /// Nobody is signed in: off to the sign-in page, and then on to this one.
    SignIn(Option<PageAddress>),
    Misdirected,
    Foreign,
    /// It was not made by a page of this session, or that session is over; this page sent it.
    Stale(Option<PageAddress>),
    Forbidden,
    /// There is no such page, or none that this operator may know of.
    NotFound,
    Unreadable,
    /// There are as many live lists open as there may be.
    TooMany,
    /// As many passwords are checked at this moment as can be.
    Busy,
    /// Somebody who sees numbers masked searched for too many; from this instant on for one more.
    SearchedTooMuch {
        until: Timestamp,
        seconds: u64,
    },
    /// A store or the API is out of reach.
    Unavailable,
    Failed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.words().0)
    }
}

impl Refusal {
    /// The title of its page, and a sentence.
    pub(crate) const fn words(&self) -> (&'static str, &'static str) {
        match self {
            Self::SignIn(_) => texts::SIGN_IN,
            Self::Misdirected => texts::MISDIRECTED,
            Self::Foreign => texts::FOREIGN,
            Self::Stale(_) => texts::STALE,
            Self::Forbidden => texts::FORBIDDEN,
            Self::NotFound => texts::NOT_FOUND,
            Self::Unreadable => texts::UNREADABLE,
            Self::TooMany => texts::TOO_MANY,
            Self::Busy => texts::BUSY,
            Self::SearchedTooMuch { .. } => texts::SEARCHED_TOO_MUCH,
            Self::Unavailable => texts::UNAVAILABLE,
            Self::Failed => texts::FAILED,
        }
    }
}

impl From<StoreError> for Refusal {
    fn from(cause: StoreError) -> Self {
        match store_failed(&cause) {
            StatusCode::SERVICE_UNAVAILABLE => Self::Unavailable,
            _ => Self::Failed,
        }
    }
}

impl From<ManageError> for Refusal {
    fn from(cause: ManageError) -> Self {
        match cause {
            ManageError::Forbidden | ManageError::MayNotDelegate => Self::Forbidden,
            ManageError::NoSuchProject | ManageError::NotFound(_) => Self::NotFound,
            // The pages that ask for what can be wrong have words of their own for these.
            ManageError::Invalid { .. } | ManageError::Conflict(_) => Self::Unreadable,
            ManageError::SearchedTooMuch { until, seconds } => {
                Self::SearchedTooMuch { until, seconds }
            }
            ManageError::Store(cause) => cause.into(),
        }
    }
}

impl From<SignInError> for Refusal {
    fn from(cause: SignInError) -> Self {
        match cause {
            SignInError::Busy => Self::Busy,
            // The pages that let somebody in have words of their own for these.
            SignInError::Wrong
            | SignInError::CodeNeeded(_)
            | SignInError::TooLate
            | SignInError::Locked { .. }
            | SignInError::LinkGone
            | SignInError::Password(_) => Self::Unreadable,
            SignInError::Store(cause) => cause.into(),
        }
    }
}
