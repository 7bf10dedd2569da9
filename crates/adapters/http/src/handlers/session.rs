use crate::call::{Answer, ApiCall, ok};
use crate::json::response;
use dwar_ratelimit::RequestScope;
use std::sync::Arc;

/// `POST /v1/session/validate`.
pub(crate) async fn validate(call: ApiCall) -> Answer {
    let (sought, token) = call.access(RequestScope::Validate).await?;
    let session = call.use_cases()?.validate_session.validate(&sought, &token).await?;
    ok(response::valid(&session))
}

/// `POST /v1/session/refresh`.
pub(crate) async fn refresh(call: ApiCall) -> Answer {
    let (sought, token, key) = call.renewal().await?;
    let sessions = Arc::clone(&call.use_cases()?.refresh_session);
    let refreshed = async move { sessions.refresh(sought, token.as_str(), key.as_ref()).await };
    let pair = call.api.tasks.finish(refreshed).await?;
    ok(response::pair(&pair))
}

/// `POST /v1/session/logout`.
pub(crate) async fn logout(call: ApiCall) -> Answer {
    let (sought, token) = call.access(RequestScope::General).await?;
    let sessions = Arc::clone(&call.use_cases()?.logout);
    let revoked = async move { sessions.logout(&sought, &token).await };
    call.api.tasks.finish(revoked).await?;
    ok(response::revoked())
}
