use crate::call::Call;
use crate::error::{ApiError, ErrorCode};
use actix_web::http::header::{HeaderName, HeaderValue};
use dwar_otp::idempotency::IdempotencyKey;
use dwar_project::Caller;
use dwar_ratelimit::{Admission, RequestScope};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

impl Call {
    /// Who is calling, by `X-Api-Key`.
    async fn caller(&self) -> Result<Caller, ApiError> {
        let header = self.single(API_KEY).map_err(|_| ErrorCode::InvalidApiKey)?;
        let header = header.ok_or(ErrorCode::MissingApiKey)?;
        let key = header.to_str().map_err(|_| ErrorCode::InvalidApiKey)?;
        let caller = self.use_cases().authenticate.caller(key).await?;
        self.trail.caller.set(Some((caller.project.id, caller.mode)));
        Ok(caller)
    }

    /// Who is calling, counted against the key's general window.
    pub(crate) async fn general_caller(&self) -> Result<Caller, ApiError> {
        self.counted_caller(RequestScope::General).await
    }

    /// Who is calling, counted against this window of the key, whose standing the answer tells.
    pub(crate) async fn counted_caller(&self, scope: RequestScope) -> Result<Caller, ApiError> {
        let (caller, admission) = self.admitted(scope).await?;
        admission.into_iter().for_each(|admission| self.limited_by(admission));
        Ok(caller)
    }

    /// Who is calling, for calls that have a limit of their own to tell about: the window of the
    /// key is a ceiling, which only a refusal mentions.
    pub(crate) async fn capped_caller(&self, scope: RequestScope) -> Result<Caller, ApiError> {
        Ok(self.admitted(scope).await?.0)
    }

    async fn admitted(&self, scope: RequestScope) -> Result<(Caller, Option<Admission>), ApiError> {
        let caller = self.caller().await?;
        let admission = self.use_cases().admit_request.admit(&caller, scope).await?;
        match admission {
            Some(refusal) if !refusal.admitted => {
                Err(ApiError::limited(ErrorCode::RateLimited, refusal))
            }
            admission => Ok((caller, admission)),
        }
    }

    /// The `Idempotency-Key`, if there is one.
    ///
    /// # Errors
    /// `INVALID_REQUEST` if there are two, or one that is not 1 to 255 visible ASCII characters.
    pub(crate) fn idempotency_key(&self) -> Result<Option<IdempotencyKey>, ApiError> {
        let header = self.single(IDEMPOTENCY_KEY).map_err(|_| ErrorCode::InvalidRequest)?;
        let key = header.map(|value| value.to_str().ok().and_then(|text| text.parse().ok()));
        key.map(|key| key.ok_or_else(|| ErrorCode::InvalidRequest.into())).transpose()
    }

    /// A header that must not come twice.
    fn single(&self, name: HeaderName) -> Result<Option<&HeaderValue>, Twice> {
        let mut values = self.request.headers().get_all(name);
        let first = values.next();
        if values.next().is_some() { Err(Twice) } else { Ok(first) }
    }
}

struct Twice;
