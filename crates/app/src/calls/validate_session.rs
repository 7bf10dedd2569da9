use super::tokens::seconds;
use crate::CommonPorts;
use crate::refusals::refusals;
use dwar_kernel::{IdentityId, ProjectMode, SessionId, StoreError, TRACE, Timestamp, TokenId};
use dwar_session::{KeyAndSession, PresentedToken, Session, TokenSigner};
use std::sync::Arc;
use tracing::instrument;

/// Tells whether an access token is valid now (`POST /v1/session/validate`, forward auth and introspection).
pub struct ValidateSession {
    pub tools: CommonPorts,
    pub signer: Arc<dyn TokenSigner>,
}

/// A valid token, with the session that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidSession {
    pub session: SessionId,
    pub identity: IdentityId,
    /// When this token was issued, not when the session began.
    pub issued_at: Timestamp,
    /// The first instant at which the token is no longer valid.
    pub expires_at: Timestamp,
    pub expires_in: i64,
}

/// A valid token in the form for resource servers (RFC 7662 section 2.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntrospectedToken {
    pub session: ValidSession,
    /// `client_id` and `aud` are its project.
    pub project_mode: ProjectMode,
    /// The `iss` claim of the token, even if the project has got an issuer of its own since.
    pub issuer: String,
}

refusals! {
    ValidateSessionError {
        /// Malformed, badly signed, expired, revoked, superseded, or of another project or mode.
        Invalid = "invalid access token",
    }
}

impl ValidateSession {
    /// Checks `token` against the session that was loaded for this request. Revocation is never answered from
    /// a cache.
    #[instrument(name = "validate_session", target = TRACE, level = "error", skip_all)]
    pub async fn validate(
        &self,
        caller: &KeyAndSession,
        token: &PresentedToken,
    ) -> Result<ValidSession, ValidateSessionError> {
        let now = self.tools.now();
        let named = named(self.signer.as_ref(), caller, token, now).await?;
        let (session, token) = named.ok_or(ValidateSessionError::Invalid)?;
        if !session.honours(token, now) {
            return Err(ValidateSessionError::Invalid);
        }
        let expires_at = session.access.expires_at.min(session.expires_at);
        Ok(ValidSession {
            session: session.id,
            identity: session.identity,
            issued_at: session.access.issued_at,
            expires_at,
            expires_in: seconds(expires_at, now),
        })
    }

    /// Like [`ValidateSession::validate`], with the claims of the token.
    pub async fn introspect(
        &self,
        caller: &KeyAndSession,
        token: &PresentedToken,
    ) -> Result<IntrospectedToken, ValidateSessionError> {
        let session = self.validate(caller, token).await?;
        let issuer = self.signer.issuer(token).ok_or(ValidateSessionError::Invalid)?;
        Ok(IntrospectedToken { session, project_mode: caller.project_mode, issuer })
    }
}

/// The loaded session and the id of `token`, if the token is well signed, has not expired, and names this
/// session of the caller's project and mode.
pub(crate) async fn named<'caller>(
    signer: &dyn TokenSigner,
    caller: &'caller KeyAndSession,
    token: &PresentedToken,
    now: Timestamp,
) -> Result<Option<(&'caller Session, TokenId)>, StoreError> {
    let Some(session) = &caller.session else { return Ok(None) };
    let claims = signer.verify(token, now).await?.ok();
    let theirs = (session.id, caller.project_mode);
    let claims = claims.filter(|claims| (claims.session, claims.project_mode) == theirs);
    Ok(claims.map(|claims| (session, claims.token)))
}
