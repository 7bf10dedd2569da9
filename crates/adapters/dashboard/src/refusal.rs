use crate::address::PageAddress;
use crate::format::plain_moment;
use crate::layout;
use crate::texts::refusals as texts;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use actix_web::{HttpResponse, ResponseError};
use dwar_app::{ManageError, SignInError};
use dwar_kernel::{StoreError, Timestamp};
use dwar_wire::store_failed;
use std::borrow::Cow;
use std::fmt;

/// To whoever meets a queue that is full; it moves within a second.
pub(crate) const RETRY_SOON: (HeaderName, HeaderValue) =
    (header::RETRY_AFTER, HeaderValue::from_static("1"));

/// Why there is no page. Each is a page of its own, but for who has to sign in first.
#[derive(Debug)]
pub enum Refusal {
    /// Nobody is signed in: off to the sign-in page, and then on to this one.
    SignIn(Option<PageAddress>),
    /// Not by this name.
    Misdirected,
    /// Somebody else's page sent it.
    Foreign,
    /// It was not made by a page of this session, or that session is over; this page sent it.
    Stale(Option<PageAddress>),
    /// The operator may not.
    Forbidden,
    /// There is no such page, or none that this operator may know of.
    NotFound,
    /// The form cannot be read.
    Unreadable,
    /// There are as many live lists open as there may be.
    TooMany,
    /// As many passwords are checked at this moment as can be.
    Busy,
    /// Somebody who sees numbers masked searched for too many; from this instant on for one more.
    SearchedTooMuch { until: Timestamp, seconds: u64 },
    /// A store or the API is out of reach.
    Unavailable,
    /// Our fault; the log says more.
    Failed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.words().0)
    }
}

impl Refusal {
    const fn words(&self) -> (&'static str, &'static str) {
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

impl ResponseError for Refusal {
    fn status_code(&self) -> StatusCode {
        match self {
            Self::SignIn(_) => StatusCode::SEE_OTHER,
            Self::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            Self::Foreign | Self::Stale(_) | Self::Forbidden => StatusCode::FORBIDDEN,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Unreadable => StatusCode::BAD_REQUEST,
            Self::TooMany | Self::SearchedTooMuch { .. } => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy | Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn error_response(&self) -> HttpResponse {
        let mut answer = HttpResponse::build(self.status_code());
        if let Self::SignIn(page) = self {
            let address = PageAddress::sign_in(page.as_ref());
            return answer.insert_header((header::LOCATION, address)).finish();
        }
        if matches!(self, Self::Busy) {
            answer.insert_header(RETRY_SOON);
        }
        let (title, sentence) = self.words();
        let mut sentence = Cow::from(sentence);
        if let Self::SearchedTooMuch { until, seconds } = self {
            answer.insert_header((header::RETRY_AFTER, *seconds));
            sentence = format!("{sentence} {}.", plain_moment(*until)).into();
        }
        let back = match self {
            Self::Stale(page) => (PageAddress::sign_in(page.as_ref()), texts::SIGN_IN.0),
            _ => ("/".to_owned(), texts::BACK),
        };
        let page = layout::bare(title, &sentence, (&back.0, back.1)).into_string();
        answer.content_type(layout::HTML).body(page)
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
