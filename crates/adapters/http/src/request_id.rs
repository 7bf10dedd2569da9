use crate::access_log::AccessLogLine;
use crate::api::Api;
use crate::call::{JSON, RequestContext};
use crate::error::{ApiError, ErrorCode};
use actix_web::body::BoxBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::middleware::Next;
use actix_web::web::{Bytes, Data};
use actix_web::{Error, HttpMessage, HttpResponse};
use dwar_app::{AnsweredRequest, CommonPorts};
use dwar_wire::{
    REQUEST_ID, Refused, RequestTrace, begin_request, fresh_id, known_method, request_id,
};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;
use tracing::Instrument;

const ANY: HeaderValue = HeaderValue::from_static("*");

/// The only middleware: gives every request an id, every answer its headers and every refusal its
/// body, and catches panics so that one request never affects another.
pub(crate) async fn identify(
    mut request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse, Error> {
    let Some(api) = request.app_data::<Data<Api>>() else {
        return Err(ApiError::from(ErrorCode::InternalError).into());
    };
    let tools = &api.use_cases.tools;
    let id = request_id(request.headers(), tools.entropy.as_ref(), tools.now());
    let observer = Arc::clone(&tools.observer);
    let (connection, payload) = begin_request(&mut request);
    let method = known_method(request.method());
    let trace = RequestTrace::begin(method, Some(request.headers()));
    let context = Rc::new(RequestContext::new(id, payload, trace));
    let is_public = is_well_known(request.path());
    request.extensions_mut().insert(Rc::clone(&context));
    let mut line = AccessLogLine::begin(method, Rc::clone(&context), observer);
    // At level error, so that no filter removes the id from lines that carry it.
    let phone = tracing::field::Empty;
    let begin = || tracing::error_span!("request", request_id = context.request_id(), phone);
    let span = context.trace.in_scope(begin);

    let work = AssertUnwindSafe(async move { next.call(request).await });
    let outcome = work.catch_unwind().instrument(span.clone()).await;
    let (request, response) = match outcome {
        Ok(Ok(response)) => {
            let (request, response) = response.into_parts();
            (Some(request), response)
        }
        Ok(Err(error)) => (None, HttpResponse::from_error(error)),
        Err(_) => {
            span.in_scope(|| tracing::error!("a request panicked"));
            (None, HttpResponse::from_error(ApiError::from(ErrorCode::InternalError)))
        }
    };
    let (mut response, code) = span.in_scope(|| complete(&context, response));
    if is_public {
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    }
    line.answered(&response, context.refused.get().or(code));
    if let Some(connection) = connection {
        connection.answer();
    }
    match request {
        Some(request) => Ok(ServiceResponse::new(request, response)),
        // A handler that panicked or failed has consumed the request. A `ServiceResponse` needs the
        // request, so the answer is returned as an error.
        None => {
            Err(InternalError::from_response(code.map_or("", ErrorCode::as_str), response).into())
        }
    }
}

/// Tells whether a browser lets scripts of every site read the answers of this path (CORS), refusals
/// included. Such paths hold keys and metadata, which are public.
pub(crate) fn is_well_known(path: &str) -> bool {
    path.contains("/.well-known/")
}

fn refusal_body(code: ErrorCode, message: Option<&str>, request_id: &str) -> Vec<u8> {
    Refused { error: message.unwrap_or(code.message()), code: code.as_str(), request_id }.to_json()
}

/// A complete answer to bytes that are not a request. The connection ends with it.
pub(crate) fn unreadable(tools: &CommonPorts, status: StatusCode) -> Vec<u8> {
    let code = ErrorCode::of_status(status);
    let id = fresh_id(tools.entropy.as_ref(), tools.now());
    let request_id = id.to_str().unwrap_or_default();
    tracing::info!(status = status.as_u16(), code = code.as_str(), request_id, "unreadable");
    tools.observer.answered(&AnsweredRequest {
        route: None,
        method: "other",
        status: Some(status.as_u16()),
        code: Some(code.as_str()),
        took: Duration::ZERO,
    });
    let body = refusal_body(code, None, request_id);
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nx-request-id: {request_id}\r\n\
         x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n\
         content-length: {}\r\ndate: {}\r\n\r\n",
        body.len(),
        tools.now().format("%a, %d %b %Y %H:%M:%S GMT"),
    );
    [head.into_bytes(), body].concat()
}

/// Adds the headers of every answer, and the body of a refusal.
fn complete(
    context: &RequestContext,
    mut response: HttpResponse,
) -> (HttpResponse, Option<ErrorCode>) {
    let code = refusal(context, &response);
    if let Some(code) = code {
        let message = error_of(&response).and_then(|error| error.said.as_deref());
        let body = refusal_body(code, message, context.request_id());
        response = response.set_body(BoxBody::new(Bytes::from(body)));
        response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    }
    let headers = response.headers_mut();
    headers.insert(REQUEST_ID, context.request_id.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    if let Some(rate) = context.rate.get() {
        rate.write(headers);
    }
    (response, code)
}

fn error_of(response: &HttpResponse) -> Option<&ApiError> {
    response.error().and_then(Error::as_error)
}

/// The code of a refusal; `None` for every other answer. Logs the cause of the refusal, and notes its rate
/// limit for the headers.
fn refusal(context: &RequestContext, response: &HttpResponse) -> Option<ErrorCode> {
    match error_of(response) {
        Some(error) => {
            error.log_cause();
            context.rate.set(error.rate.or(context.rate.get()));
            Some(error.code)
        }
        None if response.status().is_client_error() || response.status().is_server_error() => {
            Some(ErrorCode::of_status(response.status()))
        }
        None => None,
    }
}
