use super::validate_session::named;
use crate::CommonPorts;
use crate::refusals::refusals;
use dwar_kernel::TRACE;
use dwar_session::{KeyAndSession, PresentedToken, SessionStore, TokenSigner};
use std::sync::Arc;
use tracing::instrument;

/// Ends the session of an access token (`POST /v1/session/logout`).
pub struct Logout {
    pub tools: CommonPorts,
    pub signer: Arc<dyn TokenSigner>,
    pub sessions: Arc<dyn SessionStore>,
}

refusals! {
    LogoutError {
        /// A client whose access token has expired has to refresh first.
        Invalid = "invalid access token",
    }
}

impl Logout {
    /// Revokes both tokens of the session that `token` names (docs/contract.md, Sessions).
    #[instrument(name = "logout", target = TRACE, level = "error", skip_all)]
    pub async fn logout(
        &self,
        caller: &KeyAndSession,
        token: &PresentedToken,
    ) -> Result<(), LogoutError> {
        let now = self.tools.now();
        let named = named(self.signer.as_ref(), caller, token, now).await?;
        let (session, token) = named.ok_or(LogoutError::Invalid)?;
        let ended = self.sessions.revoke(session.clone(), token, now).await?;
        if ended { Ok(()) } else { Err(LogoutError::Invalid) }
    }
}
