use dwar_kernel::StoreError;
use dwar_project::{ApiKey, Caller, ProjectStore};
use std::sync::Arc;

use crate::Toolbox;

/// Recognises who is calling by the `X-Api-Key` header (docs/contract.md, Callers).
pub struct Authenticate {
    pub tools: Toolbox,
    pub projects: Arc<dyn ProjectStore>,
}

/// Why a key was not recognised.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticateError {
    /// No key of ours, or one that was replaced.
    #[error("unrecognised API key")]
    Unrecognised,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Authenticate {
    /// Whom `header` speaks for. A malformed key costs no look-up.
    ///
    /// # Errors
    /// [`AuthenticateError::Unrecognised`] for every key that is not in force at this instant.
    pub async fn caller(&self, header: &str) -> Result<Caller, AuthenticateError> {
        let key: ApiKey = header.parse().map_err(|_| AuthenticateError::Unrecognised)?;
        let caller = self.projects.caller(key.digest(self.tools.vault.as_ref())).await?;
        caller.ok_or(AuthenticateError::Unrecognised)
    }
}
