use crate::call::{Answer, ApiCall, ok};
use crate::error::ApiError;
use crate::json::IntrospectionForm;
use crate::json::response::Introspection;
use crate::operation::post;
use dwar_app::ValidateSessionError;
use dwar_wire::openapi::Operation;

pub(crate) fn operation() -> Operation {
    post("/oauth2/introspect", "introspectToken", introspect)
        .summary("Introspect an access token (RFC 7662)")
        .description(
            "For resource servers and gateways that support introspection. A token is active \
             exactly if `validateSession` accepts it. `sub` is the identity, `sid` the \
             session, `client_id` and `aud` are the project. Send the API key in `X-Api-Key` \
             or as the password of HTTP Basic. Other parameters are ignored; no parameter may \
             occur twice.",
        )
        .secured_by(&[&["api_key"], &["basic"]])
        .request_body_of::<IntrospectionForm>("application/x-www-form-urlencoded")
        .response::<Introspection>(
            "The state of the token; for one that is not valid, only `active: false`.",
        )
}

async fn introspect(call: ApiCall) -> Answer {
    let (caller, token) = call.introspected_access().await.map_err(ApiError::asking_for_basic)?;
    match call.use_cases()?.validate_session.introspect(&caller, &token).await {
        Ok(token) => ok(Introspection::from(&token)),
        Err(ValidateSessionError::Invalid) => ok(Introspection::default()),
        Err(error) => Err(error.into()),
    }
}
