use dwar_kernel::StoreError;

/// Why a change was not even tried.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// Whoever asked may not do this.
    #[error("your role does not allow this")]
    Forbidden,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The errors of use cases that refuse what a role does not allow.
macro_rules! forbids {
    ($($error:ty),+) => {$(
        impl From<AdminError> for $error {
            fn from(cause: AdminError) -> Self {
                match cause {
                    AdminError::Forbidden => Self::Forbidden,
                    AdminError::Store(cause) => Self::Store(cause),
                }
            }
        }
    )+};
}

forbids!(
    crate::AccountError,
    crate::AdminTokenError,
    crate::CreditError,
    crate::EraseIdentityError,
    crate::OperatorError,
    crate::RegenerateKeyError,
    crate::SignInError,
    crate::UnlockPhoneError
);

impl From<AdminError> for crate::EndpointError {
    fn from(cause: AdminError) -> Self {
        match cause {
            AdminError::Forbidden => Self::NotAllowed,
            AdminError::Store(cause) => Self::Store(cause),
        }
    }
}
