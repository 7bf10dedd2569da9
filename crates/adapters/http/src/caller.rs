use crate::call::ApiCall;
use crate::error::{ApiError, ErrorCode};
use crate::json::{AccessBody, RefreshBody, Token};
use actix_web::HttpMessage;
use actix_web::http::header::{HeaderName, HeaderValue};
use dwar_app::{Claim, UseCases};
use dwar_kernel::{ApiKeyId, ProjectId, ProjectMode};
use dwar_otp::idempotency::IdempotencyKey;
use dwar_project::Caller;
use dwar_ratelimit::{Admission, RequestScope};
use dwar_session::{KeyAndSession, PresentedToken};
use dwar_wire::client_address;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The project of a request from [`InProcess`](crate::InProcess). It is attached in a place that no
/// text of a client reaches.
#[derive(Clone, Copy)]
pub(crate) struct InProcessProject(pub(crate) ProjectId);

impl ApiCall {
    /// The claimed caller, not looked up yet: by `X-Api-Key`, or by the attached project.
    pub(crate) fn claim(&self) -> Result<Claim, ApiError> {
        if let Some(InProcessProject(project)) = self.request.extensions().get() {
            return Ok(Claim::TestMode(*project));
        }
        let header = self.single(API_KEY, ErrorCode::InvalidApiKey)?;
        let header = header.ok_or(ErrorCode::MissingApiKey)?;
        let key = header.to_str().ok().and_then(|key| key.parse().ok());
        key.map(Claim::Key).ok_or_else(|| ErrorCode::InvalidApiKey.into())
    }

    /// Looks the caller up and counts the request in the key's general window.
    pub(crate) async fn general_caller(&self) -> Result<Caller, ApiError> {
        self.counted_caller(RequestScope::General).await
    }

    /// Looks the caller up and counts the request in this window of the key. The answer shows the
    /// window's state.
    pub(crate) async fn counted_caller(&self, scope: RequestScope) -> Result<Caller, ApiError> {
        let (caller, admission) = self.admitted(scope).await?;
        admission.into_iter().for_each(|admission| self.limited_by(admission));
        Ok(caller)
    }

    /// Like [`ApiCall::counted_caller`], for calls that report a limit of their own: the window of
    /// the key is then only a ceiling, which only a refusal mentions.
    pub(crate) async fn capped_caller(&self, scope: RequestScope) -> Result<Caller, ApiError> {
        Ok(self.admitted(scope).await?.0)
    }

    /// Looks up the caller and the session of the access token in the body, and counts the request
    /// as [`ApiCall::counted_caller`] does. Errors of key and limit precede those of the body.
    pub(crate) async fn access(
        &self,
        scope: RequestScope,
    ) -> Result<(KeyAndSession, PresentedToken), ApiError> {
        let claim = self.claim()?;
        let body = self.body::<AccessBody>().await;
        let token = body.and_then(|body| body.access_token.or(ErrorCode::MissingAccessToken));
        self.access_of(&claim, token, scope).await
    }

    /// Like [`ApiCall::access`], with the bearer token of the request, in the window of validate.
    pub(crate) async fn bearer_access(&self) -> Result<(KeyAndSession, PresentedToken), ApiError> {
        self.access_of(&self.claim()?, self.bearer_token(), RequestScope::Validate).await
    }

    /// Like [`ApiCall::access`], with a token to introspect (RFC 7662 section 2.1), in the window
    /// of validate.
    pub(crate) async fn introspected_access(
        &self,
    ) -> Result<(KeyAndSession, PresentedToken), ApiError> {
        let claim = self.claim_of_client()?;
        let token = self.form_parameter("token").await;
        let token =
            token.and_then(|text| text.parse().map_err(|()| ErrorCode::InvalidRequest.into()));
        self.access_of(&claim, token, RequestScope::Validate).await
    }

    /// Looks up the caller and the session of the token in one step, and counts the request.
    async fn access_of(
        &self,
        claim: &Claim,
        token: Result<Token, ApiError>,
        scope: RequestScope,
    ) -> Result<(KeyAndSession, PresentedToken), ApiError> {
        let authenticate = &self.use_cases()?.authenticate;
        let token = token.map(|token| authenticate.read(token.into()));
        let found = authenticate.with_access_token(claim, token.as_ref().ok()).await?;
        let found = self.counted(found, scope).await?;
        Ok((found, token?))
    }

    /// Like [`ApiCall::access`], with a refresh token and the idempotency key of the exchange, in
    /// the general window.
    pub(crate) async fn renewal(
        &self,
    ) -> Result<(KeyAndSession, Token, Option<IdempotencyKey>), ApiError> {
        let claim = self.claim()?;
        let body = self.body::<RefreshBody>().await;
        let token = body.and_then(|body| body.refresh_token.or(ErrorCode::MissingRefreshToken));
        let text = token.as_ref().ok().map(Token::as_str);
        let found = self.use_cases()?.authenticate.with_refresh_token(&claim, text).await?;
        let found = self.counted(found, RequestScope::General).await?;
        let repeat = self.idempotency_key()?;
        Ok((found, token?, repeat))
    }

    async fn counted(
        &self,
        found: KeyAndSession,
        scope: RequestScope,
    ) -> Result<KeyAndSession, ApiError> {
        let admission = self.admit(found.project_mode, found.key, scope).await?;
        admission.into_iter().for_each(|admission| self.limited_by(admission));
        Ok(found)
    }

    async fn admitted(&self, scope: RequestScope) -> Result<(Caller, Option<Admission>), ApiError> {
        let caller = self.use_cases()?.authenticate.caller(&self.claim()?).await?;
        let admission = self.admit(caller.project_mode(), caller.key, scope).await?;
        Ok((caller, admission))
    }

    async fn admit(
        &self,
        project_mode: ProjectMode,
        key: ApiKeyId,
        scope: RequestScope,
    ) -> Result<Option<Admission>, ApiError> {
        self.context.caller.set(Some(project_mode));
        self.context.trace.believe();
        let UseCases { admit_request, usage_recorder, .. } = self.use_cases()?;
        if self.request.extensions().get::<InProcessProject>().is_none() {
            usage_recorder.used(key, client_address(&self.request, self.api.behind_proxy));
        }
        match admit_request.admit(project_mode, key, scope).await? {
            Some(refusal) if !refusal.admitted => {
                Err(ApiError::limited(ErrorCode::RateLimited, refusal))
            }
            admission => Ok(admission),
        }
    }

    /// The `Idempotency-Key`, if there is one; `INVALID_REQUEST` if there are two, or if it is not
    /// 1 to 255 visible ASCII characters.
    pub(crate) fn idempotency_key(&self) -> Result<Option<IdempotencyKey>, ApiError> {
        let header = self.single(IDEMPOTENCY_KEY, ErrorCode::InvalidRequest)?;
        let key = header.map(|value| value.to_str().ok().and_then(|text| text.parse().ok()));
        key.map(|key| key.ok_or_else(|| ErrorCode::InvalidRequest.into())).transpose()
    }

    /// A header that may occur once; otherwise the error `twice`.
    pub(crate) fn single(
        &self,
        name: HeaderName,
        twice: ErrorCode,
    ) -> Result<Option<&HeaderValue>, ErrorCode> {
        let mut values = self.request.headers().get_all(name);
        let first = values.next();
        if values.next().is_some() { Err(twice) } else { Ok(first) }
    }
}
