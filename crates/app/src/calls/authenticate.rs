use crate::CommonPorts;
use crate::refusals::refusals;
use dwar_kernel::{Digest, KeyMode, ProjectId, SessionId, TRACE};
use dwar_project::{ApiKey, Caller, ProjectStore};
use dwar_session::{
    AccessToken, KeyAndSession, PresentedToken, RefreshToken, SessionStore, TokenSigner,
};
use std::sync::Arc;
use tracing::instrument;

/// How a request identifies its caller, before the look-up.
#[derive(Debug)]
pub enum Claim {
    Key(ApiKey),
    /// Test mode of a project, without a key: the caller was authorised for the project already.
    TestMode(ProjectId),
}

/// Identifies the caller of a request; clients send the `X-Api-Key` header (docs/contract.md, Callers).
pub struct Authenticate {
    pub tools: CommonPorts,
    pub projects: Arc<dyn ProjectStore>,
    /// Looks up the key together with the session of a token.
    pub sessions: Arc<dyn SessionStore>,
    pub signer: Arc<dyn TokenSigner>,
}

refusals! {
    AuthenticateError { Unrecognised = "unrecognised API key" }
}

impl Authenticate {
    /// The project and mode of the caller.
    ///
    /// # Errors
    /// [`AuthenticateError::Unrecognised`] for every key that is not in force at this instant, and for a
    /// project that does not exist. This also holds for the other two methods.
    #[instrument(name = "authenticate", target = TRACE, level = "error", skip_all)]
    pub async fn caller(&self, claim: &Claim) -> Result<Caller, AuthenticateError> {
        let caller = self.projects.caller(self.digest(claim).await?).await?;
        caller.ok_or(AuthenticateError::Unrecognised)
    }

    /// Reads the access token of a request, without checking it.
    pub fn read(&self, token: AccessToken) -> PresentedToken {
        self.signer.read(token)
    }

    /// Looks up the caller, and the session that `token` names if it is the caller's. The signature is not
    /// checked for this, so that strangers cannot cause signature checks.
    #[instrument(name = "authenticate", target = TRACE, level = "error", skip_all)]
    pub async fn with_access_token(
        &self,
        claim: &Claim,
        token: Option<&PresentedToken>,
    ) -> Result<KeyAndSession, AuthenticateError> {
        self.find_key_and_session(claim, token.and_then(|token| token.session)).await
    }

    /// Like [`Authenticate::with_access_token`], with a refresh token.
    #[instrument(name = "authenticate", target = TRACE, level = "error", skip_all)]
    pub async fn with_refresh_token(
        &self,
        claim: &Claim,
        token: Option<&str>,
    ) -> Result<KeyAndSession, AuthenticateError> {
        self.find_key_and_session(claim, token.and_then(RefreshToken::session_of)).await
    }

    async fn find_key_and_session(
        &self,
        claim: &Claim,
        session: Option<SessionId>,
    ) -> Result<KeyAndSession, AuthenticateError> {
        let found = self.sessions.find_key_and_session(self.digest(claim).await?, session).await?;
        found.ok_or(AuthenticateError::Unrecognised)
    }

    /// The digest by which stores look up the key. Test mode without a key is represented by the project's
    /// own test key, so such requests see the same data and count against the same limits.
    async fn digest(&self, claim: &Claim) -> Result<Digest, AuthenticateError> {
        match claim {
            Claim::Key(key) => Ok(key.digest(self.tools.vault.as_ref())),
            Claim::TestMode(project) => {
                let keys = self.projects.keys(*project).await?;
                let test = keys.iter().find(|key| key.mode == KeyMode::Test);
                Ok(test.ok_or(AuthenticateError::Unrecognised)?.digest)
            }
        }
    }
}
