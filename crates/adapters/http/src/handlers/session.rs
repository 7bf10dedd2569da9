use crate::ErrorCode;
use crate::call::{Answer, Call, ok};
use crate::json::{AccessBody, Pair, RefreshBody, Revoked, Valid};
use dwar_ratelimit::RequestScope;
use std::sync::Arc;

/// `POST /v1/session/validate`.
pub(crate) async fn validate(call: Call) -> Answer {
    let caller = call.counted_caller(RequestScope::Validate).await?;
    let body: AccessBody = call.body().await?;
    let token = body.access_token.or(ErrorCode::MissingAccessToken)?;
    let session = call.use_cases().validate_session.validate(&caller, &token.into()).await?;
    ok(&Valid::of(&session))
}

/// `POST /v1/session/refresh`.
pub(crate) async fn refresh(call: Call) -> Answer {
    let caller = call.general_caller().await?;
    let key = call.idempotency_key()?;
    let body: RefreshBody = call.body().await?;
    let token = body.refresh_token.or(ErrorCode::MissingRefreshToken)?;
    let sessions = Arc::clone(&call.use_cases().refresh_session);
    let refreshed = async move { sessions.refresh(&caller, token.as_str(), key.as_ref()).await };
    let pair = call.api.tasks.finish(refreshed).await?;
    ok(&Pair::of(&pair))
}

/// `POST /v1/session/logout`.
pub(crate) async fn logout(call: Call) -> Answer {
    let caller = call.general_caller().await?;
    let body: AccessBody = call.body().await?;
    let token = body.access_token.or(ErrorCode::MissingAccessToken)?;
    let sessions = Arc::clone(&call.use_cases().logout);
    let revoked = async move { sessions.logout(&caller, &token.into()).await };
    call.api.tasks.finish(revoked).await?;
    ok(&Revoked { revoked: true })
}
