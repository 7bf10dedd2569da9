use crate::Toolbox;
use crate::tokens::seconds;
use dwar_kernel::{IdentityId, SessionId, StoreError, Timestamp};
use dwar_project::Caller;
use dwar_session::{AccessToken, Claims, SessionStore, TokenSigner};
use std::sync::Arc;

/// Tells whether an access token counts right now (`POST /v1/session/validate`).
pub struct ValidateSession {
    pub tools: Toolbox,
    pub signer: Arc<dyn TokenSigner>,
    /// Knows what was revoked or superseded.
    pub sessions: Arc<dyn SessionStore>,
}

/// A token that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidSession {
    pub session: SessionId,
    pub identity: IdentityId,
    /// When the token was issued.
    pub issued_at: Timestamp,
    /// The first instant at which it no longer counts.
    pub expires_at: Timestamp,
    /// Whole seconds until then.
    pub expires_in: i64,
}

/// Why a token does not count.
#[derive(Debug, thiserror::Error)]
pub enum ValidateSessionError {
    /// Malformed, badly signed, expired, revoked, superseded, or of another project or mode.
    #[error("invalid access token")]
    Invalid,
    /// A store failed: whether the token counts is unknown.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ValidateSession {
    /// Checks `token` for `caller`; never answers from memory about revocation.
    pub async fn validate(
        &self,
        caller: &Caller,
        token: &AccessToken,
    ) -> Result<ValidSession, ValidateSessionError> {
        let now = self.tools.now();
        let claims = claims_of(self.signer.as_ref(), caller, token, now).await?;
        let claims = claims.ok_or(ValidateSessionError::Invalid)?;
        let session = self.sessions.find(caller.project.id, caller.mode, claims.session).await?;
        let session = session.filter(|found| found.honours(claims.token, now));
        let session = session.ok_or(ValidateSessionError::Invalid)?;
        let expires_at = session.access.expires_at.min(session.expires_at);
        Ok(ValidSession {
            session: session.id,
            identity: session.identity,
            issued_at: session.access.issued_at,
            expires_at,
            expires_in: seconds(expires_at, now),
        })
    }
}

/// The claims of a well-signed, unexpired token of the caller's project and mode.
pub(crate) async fn claims_of(
    signer: &dyn TokenSigner,
    caller: &Caller,
    token: &AccessToken,
    now: Timestamp,
) -> Result<Option<Claims>, StoreError> {
    let claims = signer.verify(token, now).await?.ok();
    Ok(claims.filter(|claims| claims.project == caller.project.id && claims.mode == caller.mode))
}
