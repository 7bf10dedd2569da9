use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::{InvalidPassword, PendingSignIn};

/// Why nobody was let in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Name, password or code; the answer does not tell which.
    #[error("that is not right")]
    Wrong,
    /// The password is right; the browser is to keep this and to show it with a code.
    #[error("the code of your authenticator app is needed too")]
    CodeNeeded(PendingSignIn),
    /// The code came too long after the password, or a code was used meanwhile.
    #[error("that took too long: sign in again")]
    TooLate,
    /// Too many failures; nothing is judged before this instant.
    #[error("too many failed attempts: try again later")]
    Locked { until: Timestamp },
    /// The link was used, is over, or never existed.
    #[error("this link no longer works")]
    LinkGone,
    #[error(transparent)]
    Password(#[from] InvalidPassword),
    /// The limit of sign-ins at one moment is reached, most of them from the same place.
    #[error("too many people are signing in: try again in a moment")]
    Busy,
    #[error(transparent)]
    Store(#[from] StoreError),
}
