use crate::address::PageAddress;
use crate::texts::refusals as texts;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use dwar_console::{ManageError, SignInError};
use dwar_kernel::{StoreError, Timestamp};
use dwar_wire::store_failed;
use std::fmt;

/// `Retry-After: 1` when a queue is full.
pub(crate) const RETRY_SOON: (HeaderName, HeaderValue) =
    (header::RETRY_AFTER, HeaderValue::from_static("1"));

/// The reason why a request gets no page. Each has a page of its own, except the redirect to the
/// sign-in page.
#[derive(Debug)]
pub enum Refusal {
    /// There is no session: redirects to the sign-in page, and afterwards to this page.
    SignIn(Option<PageAddress>),
    Misdirected,
    Foreign,
    /// The form was not made by a page of this session, or the session is over. Contains the page
    /// that sent the form.
    Stale(Option<PageAddress>),
    Forbidden,
    /// The page does not exist, or the operator may not know of it.
    NotFound,
    Unreadable,
    /// All places for live lists are taken.
    TooMany,
    /// All places for checking passwords are taken.
    Busy,
    /// An operator who sees numbers masked has searched for too many. Contains when one more search
    /// is possible.
    SearchedTooMuch {
        until: Timestamp,
        seconds: u64,
    },
    Unavailable,
    Failed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.page().1.0)
    }
}

impl Refusal {
    /// The status of its page, its title, and a sentence.
    pub(crate) const fn page(&self) -> (StatusCode, (&'static str, &'static str)) {
        match self {
            Self::SignIn(_) => (StatusCode::SEE_OTHER, texts::SIGN_IN),
            Self::Misdirected => (StatusCode::MISDIRECTED_REQUEST, texts::MISDIRECTED),
            Self::Foreign => (StatusCode::FORBIDDEN, texts::FOREIGN),
            Self::Stale(_) => (StatusCode::FORBIDDEN, texts::STALE),
            Self::Forbidden => (StatusCode::FORBIDDEN, texts::FORBIDDEN),
            Self::NotFound => (StatusCode::NOT_FOUND, texts::NOT_FOUND),
            Self::Unreadable => (StatusCode::BAD_REQUEST, texts::UNREADABLE),
            Self::TooMany => (StatusCode::TOO_MANY_REQUESTS, texts::TOO_MANY),
            Self::Busy => (StatusCode::SERVICE_UNAVAILABLE, texts::BUSY),
            Self::SearchedTooMuch { .. } => {
                (StatusCode::TOO_MANY_REQUESTS, texts::SEARCHED_TOO_MUCH)
            }
            Self::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, texts::UNAVAILABLE),
            Self::Failed => (StatusCode::INTERNAL_SERVER_ERROR, texts::FAILED),
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
            // Pages that can cause these have their own words for them.
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
            // The sign-in pages have their own words for these.
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
