use crate::ErrorCode;
use crate::call::{Answer, ApiCall, ok};
use crate::json::response::{EndedSession, LiveSession, Tokens};
use crate::json::{AccessBody, RefreshBody, schema};
use crate::operation::{Operation, post};
use dwar_ratelimit::RequestScope;
use std::sync::Arc;

pub(crate) fn operations() -> Vec<Operation> {
    use ErrorCode::{InvalidAccessToken, MissingAccessToken, MissingRefreshToken, SessionExpired};
    let validate = post("/v1/session/validate", "validateSession", validate)
        .says(
            "Validate an access token",
            "Meant for every request of yours. A token whose session has ended is not valid any more.",
        )
        .takes::<AccessBody>()
        .gives::<LiveSession>("It is valid.")
        .refuses([MissingAccessToken, InvalidAccessToken]);
    let refresh = post("/v1/session/refresh", "refreshSession", refresh)
        .says(
            "Refresh a session",
            "Exchanges the refresh token for the next pair; both tokens of before end. A spent refresh token that comes later than ten seconds after its \
             exchange ends the session. With an `Idempotency-Key`, the same request gets the same pair for \
             60 seconds.",
        )
        .reads("header", "Idempotency-Key", "Names this exchange.", schema::visible(255))
        .takes::<RefreshBody>()
        .gives::<Tokens<'_>>("The next pair.")
        .refuses([MissingRefreshToken, SessionExpired]);
    let logout = post("/v1/session/logout", "logoutSession", logout)
        .says("Log out", "Ends the session: its tokens are refused from the next request on.")
        .takes::<AccessBody>()
        .gives::<EndedSession>("It has ended.")
        .refuses([MissingAccessToken, InvalidAccessToken]);
    vec![validate, refresh.opens_session(), logout]
}

/// `POST /v1/session/validate`.
pub(crate) async fn validate(call: ApiCall) -> Answer {
    let (sought, token) = call.access(RequestScope::Validate).await?;
    let session = call.use_cases()?.validate_session.validate(&sought, &token).await?;
    ok(LiveSession::from(&session))
}

/// `POST /v1/session/refresh`.
pub(crate) async fn refresh(call: ApiCall) -> Answer {
    let (sought, token, key) = call.renewal().await?;
    let sessions = Arc::clone(&call.use_cases()?.refresh_session);
    let refreshed = async move { sessions.refresh(sought, token.as_str(), key.as_ref()).await };
    let pair = call.api.tasks.finish(refreshed).await?;
    ok(Tokens::from(&pair))
}

/// `POST /v1/session/logout`.
pub(crate) async fn logout(call: ApiCall) -> Answer {
    let (sought, token) = call.access(RequestScope::General).await?;
    let sessions = Arc::clone(&call.use_cases()?.logout);
    let revoked = async move { sessions.logout(&sought, &token).await };
    call.api.tasks.finish(revoked).await?;
    ok(EndedSession { revoked: true })
}
