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
use dwar_session::{PresentedToken, Sought};
use dwar_wire::client_address;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// Whom a request that came through [`InProcess`](crate::InProcess) speaks for. It is attached where nothing that a
/// client writes ends up.
#[derive(Clone, Copy)]
pub(crate) struct OnBehalf(pub(crate) ProjectId);

impl ApiCall {
    /// Whom this request claims to speak for, not looked up yet: by `X-Api-Key`, or by what is
    /// attached to it.
    pub(crate) fn claim(&self) -> Result<Claim, ApiError> {
        if let Some(OnBehalf(project)) = self.request.extensions().get() {
            return Ok(Claim::TestMode(*project));
        }
        let header = self.single(API_KEY, ErrorCode::InvalidApiKey)?;
        let header = header.ok_or(ErrorCode::MissingApiKey)?;
        let key = header.to_str().ok().and_then(|key| key.parse().ok());
        key.map(Claim::Key).ok_or_else(|| ErrorCode::InvalidApiKey.into())
    }

    /// Who is calling, counted against the key's general window.
    pub(crate) async fn general_caller(&self) -> Result<Caller, ApiError> {
        self.counted_caller(RequestScope::General).await
    }

    /// Who is calling, counted against this window of the key, whose state the answer shows.
    pub(crate) async fn counted_caller(&self, scope: RequestScope) -> Result<Caller, ApiError> {
        let (caller, admission) = self.admitted(scope).await?;
        admission.into_iter().for_each(|admission| self.limited_by(admission));
        Ok(caller)
    }

    /// Who is calling, for calls that report a limit of their own: the window of the key is a
    /// ceiling, which only a refusal mentions.
    pub(crate) async fn capped_caller(&self, scope: RequestScope) -> Result<Caller, ApiError> {
        Ok(self.admitted(scope).await?.0)
    }

    /// Who is calling about the session of an access token, and the token, counted as by
    /// [`ApiCall::counted_caller`]. Errors of key and limit come before those of the body.
    pub(crate) async fn access(
        &self,
        scope: RequestScope,
    ) -> Result<(Sought, PresentedToken), ApiError> {
        let claim = self.claim()?;
        let body = self.body::<AccessBody>().await;
        let token = body.and_then(|body| body.access_token.or(ErrorCode::MissingAccessToken));
        self.access_of(&claim, token, scope).await
    }

    /// As [`ApiCall::access`], of the bearer token of the request; in the window of validate.
    pub(crate) async fn bearer_access(&self) -> Result<(Sought, PresentedToken), ApiError> {
        self.access_of(&self.claim()?, self.bearer_token(), RequestScope::Validate).await
    }

    /// As [`ApiCall::access`], of a token to be introspected (RFC 7662 section 2.1); in the window of validate.
    pub(crate) async fn introspected_access(&self) -> Result<(Sought, PresentedToken), ApiError> {
        let claim = self.claim_of_client()?;
        let token = self.form_parameter("token").await;
        let token =
            token.and_then(|text| text.parse().map_err(|()| ErrorCode::InvalidRequest.into()));
        self.access_of(&claim, token, RequestScope::Validate).await
    }

    /// Looks the caller and the session of the token up in one step, and counts the request.
    async fn access_of(
        &self,
        claim: &Claim,
        token: Result<Token, ApiError>,
        scope: RequestScope,
    ) -> Result<(Sought, PresentedToken), ApiError> {
        let authenticate = &self.use_cases()?.authenticate;
        let token = token.map(|token| authenticate.read(token.into()));
        let sought = authenticate.with_access_token(claim, token.as_ref().ok()).await?;
        let sought = self.counted(sought, scope).await?;
        Ok((sought, token?))
    }

    /// As [`ApiCall::access`], of a refresh token, with the key to repeat it by; in the general window.
    pub(crate) async fn renewal(
        &self,
    ) -> Result<(Sought, Token, Option<IdempotencyKey>), ApiError> {
        let claim = self.claim()?;
        let body = self.body::<RefreshBody>().await;
        let token = body.and_then(|body| body.refresh_token.or(ErrorCode::MissingRefreshToken));
        let text = token.as_ref().ok().map(Token::as_str);
        let sought = self.use_cases()?.authenticate.with_refresh_token(&claim, text).await?;
        let sought = self.counted(sought, RequestScope::General).await?;
        let repeat = self.idempotency_key()?;
        Ok((sought, token?, repeat))
    }

    async fn counted(&self, sought: Sought, scope: RequestScope) -> Result<Sought, ApiError> {
        let admission = self.admit(sought.world, sought.key, scope).await?;
        admission.into_iter().for_each(|admission| self.limited_by(admission));
        Ok(sought)
    }

    async fn admitted(&self, scope: RequestScope) -> Result<(Caller, Option<Admission>), ApiError> {
        let caller = self.use_cases()?.authenticate.caller(&self.claim()?).await?;
        let admission = self.admit(caller.world(), caller.key, scope).await?;
        Ok((caller, admission))
    }

    /// Counts the request of a caller who is known now.
    async fn admit(
        &self,
        world: ProjectMode,
        key: ApiKeyId,
        scope: RequestScope,
    ) -> Result<Option<Admission>, ApiError> {
        self.trail.caller.set(Some(world));
        self.trail.trace.believe();
        let UseCases { admit_request, tally, .. } = self.use_cases()?;
        if self.request.extensions().get::<OnBehalf>().is_none() {
            tally.used(key, client_address(&self.request, self.api.behind_proxy));
        }
        match admit_request.admit(world, key, scope).await? {
            Some(refusal) if !refusal.admitted => {
                Err(ApiError::limited(ErrorCode::RateLimited, refusal))
            }
            admission => Ok(admission),
        }
    }

    /// The `Idempotency-Key`, if there is one; `INVALID_REQUEST` if there are two, or one that is
    /// not 1 to 255 visible ASCII characters.
    pub(crate) fn idempotency_key(&self) -> Result<Option<IdempotencyKey>, ApiError> {
        let header = self.single(IDEMPOTENCY_KEY, ErrorCode::InvalidRequest)?;
        let key = header.map(|value| value.to_str().ok().and_then(|text| text.parse().ok()));
        key.map(|key| key.ok_or_else(|| ErrorCode::InvalidRequest.into())).transpose()
    }

    /// A header that must not come `twice`.
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
