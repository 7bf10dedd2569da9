use crate::ErrorCode;
use crate::call::{Answer, ApiCall};
use crate::operation::catch_all;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::HeaderName;
use dwar_wire::openapi::Operation;

const IDENTITY: HeaderName = HeaderName::from_static("x-dwar-identity");
const SESSION: HeaderName = HeaderName::from_static("x-dwar-session");

pub(crate) fn operation() -> Operation {
    catch_all("/v1/session/forward-auth", "forwardAuth", forward_auth)
        .summary("Authorize a request for a proxy")
        .description(
            "Judges the bearer token as `validateSession` does, for nginx (`auth_request`), \
             Caddy and Traefik (forward auth) and Envoy (`ext_authz`). Accepts every method \
             and every path below this one, and reads no body. A missing token is answered \
             with 401.",
        )
        .secured_by(&[&["api_key", "access_token"]])
        .empty_response(StatusCode::OK, "The token is valid: the request may pass.")
        .header("X-Dwar-Identity", [StatusCode::OK])
        .header("X-Dwar-Session", [StatusCode::OK])
        .refuses([ErrorCode::InvalidAccessToken])
}

/// Any method of `/v1/session/forward-auth`, and of every path below it.
async fn forward_auth(call: ApiCall) -> Answer {
    let (caller, token) = call.bearer_access().await?;
    let session = call.use_cases()?.validate_session.validate(&caller, &token).await?;
    Ok(HttpResponse::Ok()
        .insert_header((IDENTITY, session.identity.to_string()))
        .insert_header((SESSION, session.session.to_string()))
        .finish())
}
