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
                "With these, access tokens can be verified without a request; whether the session has \
                 ended, only `validateSession` tells.",
            )
            .parameter("header", "If-None-Match", "The `ETag` of an answer.", schema::any_text())
            .response::<PublicKeys>("The set.")
            .empty_response(StatusCode::NOT_MODIFIED, "It is still that version.")
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
