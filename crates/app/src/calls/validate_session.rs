use super::tokens::seconds;
use crate::Toolbox;
use crate::refusals::refusals;
use dwar_kernel::{IdentityId, ProjectMode, SessionId, StoreError, TRACE, Timestamp, TokenId};
use dwar_session::{PresentedToken, Session, Sought, TokenSigner};
use std::sync::Arc;
use tracing::instrument;

/// Tells whether an access token is valid now (`POST /v1/session/validate`, forward auth and introspection).
pub struct ValidateSession {
    pub tools: Toolbox,
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
    pub world: ProjectMode,
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
        sought: &Sought,
        token: &PresentedToken,
    ) -> Result<ValidSession, ValidateSessionError> {
        let now = self.tools.now();
        let named = named(self.signer.as_ref(), sought, token, now).await?;
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
        sought: &Sought,
        token: &PresentedToken,
    ) -> Result<IntrospectedToken, ValidateSessionError> {
        let session = self.validate(sought, token).await?;
        let issuer = self.signer.issuer(token).ok_or(ValidateSessionError::Invalid)?;
        Ok(IntrospectedToken { session, world: sought.world, issuer })
    }
}

/// The loaded session and the id of `token`, if the token is well signed, has not expired, and names this
/// session of the caller's project and mode.
pub(crate) async fn named<'sought>(
    signer: &dyn TokenSigner,
    sought: &'sought Sought,
    token: &PresentedToken,
    now: Timestamp,
) -> Result<Option<(&'sought Session, TokenId)>, StoreError> {
    let Some(session) = &sought.session else { return Ok(None) };
    let claims = signer.verify(token, now).await?.ok();
    let theirs = (session.id, sought.world);
    let claims = claims.filter(|claims| (claims.session, claims.world) == theirs);
    Ok(claims.map(|claims| (session, claims.token)))
}
