use crate::call::{Answer, ApiCall, JSON};
use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderMap};

/// `GET /.well-known/jwks.json`.
pub(crate) async fn publish(call: ApiCall) -> Answer {
    let keys = call.use_cases()?.public_keys.publish().await?;
    let known = is_known(call.request.headers(), &keys.etag);
    let mut response = if known { HttpResponse::NotModified() } else { HttpResponse::Ok() };
    response.insert_header((header::CACHE_CONTROL, "public, max-age=300"));
    response.insert_header((header::ETAG, format!("\"{}\"", keys.etag)));
    Ok(if known { response.finish() } else { response.content_type(JSON).body(keys.json) })
}

/// Whether the client has this version already (RFC 9110 section 13.1.2, weak comparison).
fn is_known(headers: &HeaderMap, etag: &str) -> bool {
    let values = headers.get_all(header::IF_NONE_MATCH).filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(str::trim).any(|tag| {
        let opaque = tag.strip_prefix("W/").unwrap_or(tag);
        let quoted = opaque.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        tag == "*" || quoted == Some(etag)
    })
}
