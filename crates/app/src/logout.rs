use crate::Toolbox;
use crate::validate_session::claims_of;
use dwar_kernel::StoreError;
use dwar_project::Caller;
use dwar_session::{AccessToken, SessionStore, TokenSigner};
use std::sync::Arc;

/// Ends the session of an access token (`POST /v1/session/logout`).
pub struct Logout {
    pub tools: Toolbox,
    pub signer: Arc<dyn TokenSigner>,
    pub sessions: Arc<dyn SessionStore>,
}

/// Why nothing was ended.
#[derive(Debug, thiserror::Error)]
pub enum LogoutError {
    /// The token does not count; a client with an expired one refreshes first.
    #[error("invalid access token")]
    Invalid,
    /// A store failed: the session may live on.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Logout {
    /// Revokes both tokens of the session that `token` names (docs/contract.md, Sessions).
    pub async fn logout(&self, caller: &Caller, token: &AccessToken) -> Result<(), LogoutError> {
        let now = self.tools.now();
        let claims = claims_of(self.signer.as_ref(), caller, token, now).await?;
        let claims = claims.ok_or(LogoutError::Invalid)?;
        let (project, mode) = (caller.project.id, caller.mode);
        let ended = self.sessions.revoke(project, mode, claims.session, claims.token, now).await?;
        if ended { Ok(()) } else { Err(LogoutError::Invalid) }
    }
}
