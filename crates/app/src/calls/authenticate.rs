use crate::Toolbox;
use crate::refusals::refusals;
use dwar_kernel::{Digest, KeyMode, ProjectId, SessionId, TRACE};
use dwar_project::{ApiKey, Caller, ProjectStore};
use dwar_session::{AccessToken, PresentedToken, RefreshToken, SessionStore, Sought, TokenSigner};
use std::sync::Arc;
use tracing::instrument;

/// Whom a request claims to speak for; not looked up yet.
#[derive(Debug)]
pub enum Claim {
    Key(ApiKey),
    /// The test mode of a project, without a key: the caller has been let into the project already.
    TestMode(ProjectId),
}

/// Recognises who is calling, for clients by the `X-Api-Key` header (docs/contract.md, Callers).
pub struct Authenticate {
    pub tools: Toolbox,
    pub projects: Arc<dyn ProjectStore>,
    /// Finds the session of a token in the same step.
    pub sessions: Arc<dyn SessionStore>,
    pub signer: Arc<dyn TokenSigner>,
}

refusals! {
    /// Why a key was not recognised.
    AuthenticateError { Unrecognised = "unrecognised API key" }
}

impl Authenticate {
    /// Whom the request speaks for.
    ///
    /// # Errors
    /// [`AuthenticateError::Unrecognised`] for every key that is not in force at this instant, and
    /// for a project that does not exist; the same for the other two.
    #[instrument(name = "authenticate", target = TRACE, level = "error", skip_all)]
    pub async fn caller(&self, claim: &Claim) -> Result<Caller, AuthenticateError> {
        let caller = self.projects.caller(self.digest(claim).await?).await?;
        caller.ok_or(AuthenticateError::Unrecognised)
    }

    /// Takes the access token that a request brings, without checking it.
    pub fn read(&self, token: AccessToken) -> PresentedToken {
        self.signer.read(token)
    }

    /// Whom the request speaks for, and the session that `token` names, if it is theirs. The token
    /// has not been checked for this: strangers cost no signature.
    #[instrument(name = "authenticate", target = TRACE, level = "error", skip_all)]
    pub async fn with_access_token(
        &self,
        claim: &Claim,
        token: Option<&PresentedToken>,
    ) -> Result<Sought, AuthenticateError> {
        self.seek(claim, token.and_then(|token| token.session)).await
    }

    /// As [`Authenticate::with_access_token`], by a refresh token.
    #[instrument(name = "authenticate", target = TRACE, level = "error", skip_all)]
    pub async fn with_refresh_token(
        &self,
        claim: &Claim,
        token: Option<&str>,
    ) -> Result<Sought, AuthenticateError> {
        self.seek(claim, token.and_then(RefreshToken::session_of)).await
    }

    async fn seek(
        &self,
        claim: &Claim,
        session: Option<SessionId>,
    ) -> Result<Sought, AuthenticateError> {
        let sought = self.sessions.seek(self.digest(claim).await?, session).await?;
        sought.ok_or(AuthenticateError::Unrecognised)
    }

    /// The digest by which the key is on record. A project's own test key represents its test mode,
    /// so requests without a key see, and count as, what requests with that key do.
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
