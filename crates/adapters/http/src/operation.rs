use crate::call::{Answer, ApiCall};
use crate::error::ErrorCode;
use crate::request_id::is_well_known;
use actix_web::http::Method;
use actix_web::{Handler, web};
use dwar_wire::openapi::Operation;
use serde_json::json;

pub(crate) fn get(
    path: &'static str,
    id: &'static str,
    handler: impl Handler<(ApiCall,), Output = Answer>,
) -> Operation {
    operation(Method::GET, path, id, handler)
}

pub(crate) fn post(
    path: &'static str,
    id: &'static str,
    handler: impl Handler<(ApiCall,), Output = Answer>,
) -> Operation {
    operation(Method::POST, path, id, handler)
}

pub(crate) fn delete(
    path: &'static str,
    id: &'static str,
    handler: impl Handler<(ApiCall,), Output = Answer>,
) -> Operation {
    operation(Method::DELETE, path, id, handler)
}

/// An operation for every method, at this path and all paths below it, described as that of GET.
pub(crate) fn catch_all(
    path: &'static str,
    id: &'static str,
    handler: impl Handler<(ApiCall,), Output = Answer>,
) -> Operation {
    Operation::new(Method::GET, path, id, move |_| web::route().to(handler.clone())).catch_all()
}

fn operation(
    method: Method,
    path: &'static str,
    id: &'static str,
    handler: impl Handler<(ApiCall,), Output = Answer>,
) -> Operation {
    Operation::new(method, path, id, move |method| web::method(method).to(handler.clone()))
}

/// Tells whether this path requires `X-Api-Key` before anything else.
pub(crate) fn is_in_v1(path: &str) -> bool {
    path.starts_with("/v1/")
}

/// Adds what follows from the path and the parts of an operation: refusals, headers, the request
/// id.
pub(crate) fn in_frame(operation: Operation) -> Operation {
    use ErrorCode::{
        InternalError, InvalidApiKey, InvalidRequest, MissingApiKey, PayloadTooLarge, RateLimited,
        ServiceUnavailable, UnsupportedMediaType,
    };
    let with_key = is_in_v1(operation.path) || operation.names_its_security();
    let follows = [
        (with_key, &[MissingApiKey, InvalidApiKey, RateLimited][..]),
        (operation.has_request_body(), &[InvalidRequest, PayloadTooLarge, UnsupportedMediaType]),
        (
            !operation.has_request_body() && (operation.reads("path") || operation.reads("query")),
            &[InvalidRequest],
        ),
        (with_key, &[InternalError, ServiceUnavailable]),
    ];
    let held = follows.into_iter().filter(|(holds, _)| *holds);
    let operation = operation
        .refuses(held.flat_map(|(_, codes)| codes).copied())
        .parameters([json!({ "$ref": "#/components/parameters/RequestId" })]);
    let statuses = operation.statuses();
    match with_key {
        true => operation.rate_limited(&statuses),
        false if is_well_known(operation.path) => {
            operation.without_security().header("Access-Control-Allow-Origin", statuses)
        }
        false => operation.without_security(),
    }
}
