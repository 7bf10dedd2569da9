use crate::ErrorCode;
use crate::call::{Answer, ApiCall, JSON};
use crate::json::published::PublicKeys;
use crate::json::schema;
use crate::operation::get;
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header;
use dwar_session::JwkSet;
use dwar_wire::is_known;
use dwar_wire::openapi::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    let of_a_set = [StatusCode::OK, StatusCode::NOT_MODIFIED];
    vec![
        get("/.well-known/jwks.json", "getPublicKeys", publish)
            .summary("Get the public keys")
            .description(
                "With these keys you verify access tokens without a request to Dwar. Only \
                 `validateSession` tells whether the session has ended.",
            )
            .parameter(
                "header",
                "If-None-Match",
                "`ETag` of an earlier answer.",
                schema::any_text(),
            )
            .response::<PublicKeys>("The public keys.")
            .empty_response(StatusCode::NOT_MODIFIED, "The keys have not changed.")
            .refuses([ErrorCode::InternalError, ErrorCode::ServiceUnavailable])
            .header("ETag", of_a_set),
    ]
}

pub(crate) async fn publish(call: ApiCall) -> Answer {
    let keys = call.use_cases()?.public_keys.publish().await?;
    Ok(key_set(&call, keys))
}

/// A key set, or 304 if the client has the current one.
pub(super) fn key_set(call: &ApiCall, keys: JwkSet) -> HttpResponse {
    let known = is_known(call.request.headers(), &keys.etag);
    let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header((header::CACHE_CONTROL, "public, max-age=300"));
    response.insert_header((header::ETAG, format!("\"{}\"", keys.etag)));
    if known { response.finish() } else { response.content_type(JSON).body(keys.json) }
}
