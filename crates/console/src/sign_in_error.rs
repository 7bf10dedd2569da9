use dwar_kernel::{StoreError, Timestamp};
use dwar_operator::{InvalidPassword, PendingSignIn};

/// Why a sign-in was refused, in words that reveal no more than necessary.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Wrong name, password or code; the answer does not say which.
    #[error("that is not right")]
    Wrong,
    /// The password is right; the browser keeps this value and sends it with a code.
    #[error("the code of your authenticator app is needed too")]
    CodeNeeded(PendingSignIn),
    /// The code came too long after the password, or a code was used meanwhile.
    #[error("that took too long: sign in again")]
    TooLate,
    /// Too many failures; no attempt is judged before this instant.
    #[error("too many failed attempts: try again later")]
    Locked { until: Timestamp },
    /// The link was used, has expired, or never existed.
    #[error("this link no longer works")]
    LinkGone,
    #[error(transparent)]
    Password(#[from] InvalidPassword),
    /// The password hasher is full, mostly with attempts from the same origin.
    #[error("too many people are signing in: try again in a moment")]
    Busy,
    #[error(transparent)]
    Store(#[from] StoreError),
}
