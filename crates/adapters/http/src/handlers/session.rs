use crate::ErrorCode;
use crate::call::{Answer, ApiCall, ok};
use crate::json::response::{EndedSession, LiveSession, Tokens};
use crate::json::{AccessBody, RefreshBody, schema};
use crate::operation::post;
use dwar_ratelimit::RequestScope;
use dwar_wire::openapi::Operation;
use serde_json::json;
use std::sync::Arc;

pub(crate) fn operations() -> Vec<Operation> {
    use ErrorCode::{InvalidAccessToken, MissingAccessToken, MissingRefreshToken, SessionExpired};
    let validate = post("/v1/session/validate", "validateSession", validate)
        .summary("Validate an access token")
        .description(
            "Meant to be called for every request that you serve. A token whose session has \
             ended is not valid.",
        )
        .request_body::<AccessBody>()
        .response::<LiveSession>("The token is valid.")
        .refuses([MissingAccessToken, InvalidAccessToken]);
    let refresh = post("/v1/session/refresh", "refreshSession", refresh)
        .summary("Refresh a session")
        .description(
            "Exchanges the refresh token for a new pair; both old tokens stop working. A \
             refresh token that is used again more than ten seconds after its exchange ends \
             the session. With an `Idempotency-Key`, a repeated request gets the same pair for \
             60 seconds.",
        )
        .parameter(
            "header",
            "Idempotency-Key",
            "Idempotency key of this exchange.",
            schema::visible(255),
        )
        .request_body::<RefreshBody>()
        .response::<Tokens<'_>>("The new pair.")
        .refuses([MissingRefreshToken, SessionExpired]);
    let logout = post("/v1/session/logout", "logoutSession", logout)
        .summary("Log out")
        .description("Ends the session: its tokens are refused from the next request on.")
        .request_body::<AccessBody>()
        .response::<EndedSession>("The session has ended.")
        .refuses([MissingAccessToken, InvalidAccessToken]);
    vec![validate, opens_session(refresh), logout]
}

pub(super) fn opens_session(operation: Operation) -> Operation {
    let access = json!({ "requestBody": { "access_token": "$response.body#/access_token" } });
    let refresh = json!({ "requestBody": { "refresh_token": "$response.body#/refresh_token" } });
    let identity = json!({ "parameters": { "id": "$response.body#/identity_id" } });
    operation
        .link("validate", "validateSession", access.clone())
        .link("refresh", "refreshSession", refresh)
        .link("logout", "logoutSession", access)
        .link("identity", "getIdentity", identity.clone())
        .link("delete", "deleteIdentity", identity)
}

pub(crate) async fn validate(call: ApiCall) -> Answer {
    let (caller, token) = call.access(RequestScope::Validate).await?;
    let session = call.use_cases()?.validate_session.validate(&caller, &token).await?;
    ok(LiveSession::from(&session))
}

pub(crate) async fn refresh(call: ApiCall) -> Answer {
    let (caller, token, key) = call.renewal().await?;
    let sessions = Arc::clone(&call.use_cases()?.refresh_session);
    let refreshed = async move { sessions.refresh(caller, token.as_str(), key.as_ref()).await };
    let pair = call.api.tasks.finish(refreshed).await?;
    ok(Tokens::from(&pair))
}

pub(crate) async fn logout(call: ApiCall) -> Answer {
    let (caller, token) = call.access(RequestScope::General).await?;
    let sessions = Arc::clone(&call.use_cases()?.logout);
    let revoked = async move { sessions.logout(&caller, &token).await };
    call.api.tasks.finish(revoked).await?;
    ok(EndedSession { revoked: true })
}
