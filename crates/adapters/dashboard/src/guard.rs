use crate::assets;
use crate::console::Console;
use crate::names::only;
use crate::refusal::Refusal;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::error::InternalError;
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::{ConnectionType, Method, Version};
use actix_web::middleware::Next;
use actix_web::web::{Bytes, Data};
use actix_web::{Error, HttpRequest, HttpResponse};
use dwar_admin as admin_api;
use dwar_wire::{RequestTrace, TraceEnd, begin_request, known_method};
use futures_util::FutureExt;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::timeout;

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Allows only scripts and styles in our own files, no framing, and forms only to this host.
const CONTENT_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
);

/// Headers of every answer. The referrer policy keeps referrers on this host instead of disabling
/// them: without any, browsers send `Origin: null` with forms, and [`Refusal::Foreign`] could not
/// be decided.
const ALWAYS: [(HeaderName, HeaderValue); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    (header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
    (header::REFERRER_POLICY, HeaderValue::from_static("same-origin")),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

const HSTS: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// Longer than any page takes, so that a store that hangs does not block connections for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// The outermost middleware: checks host and origin, and adds the headers of every answer.
pub(crate) async fn guard(
    mut request: ServiceRequest,
    next: Next<BoxBody>,
) -> Result<ServiceResponse, Error> {
    let began = Instant::now();
    let (connection, body) = begin_request(&mut request);
    request.set_payload(body);
    let method = request.method().clone();
    // Visitors have no API key, so no caller may choose the trace.
    let known = known_method(&method);
    let trace = RequestTrace::begin(known, None);
    let knows_chunks = request.version() >= Version::HTTP_11;
    let bodiless = method == Method::HEAD;
    if bodiless {
        // Answered like GET, but without the body (RFC 9110 section 9.3.2).
        request.head_mut().method = Method::GET;
    }
    let console = request.app_data::<Data<Console>>();
    let tls = console.is_some_and(|console| console.names.tls);
    let console = console.filter(|_| admin_api::is_at(&request));
    let api =
        console.map(|console| admin_api::AdminRequestId::new(request.headers(), &console.tools));
    let (request, mut response) = match admit(&request, api.is_some()) {
        Err(refused) => (Some(request.into_parts().0), HttpResponse::from_error(refused)),
        Ok(()) => trace.follow(answered(next, request)).await,
    };
    if let Some(asked) = &api {
        response = admin_api::complete(response, asked);
    }
    complete(response.headers_mut(), tls);
    if !knows_chunks {
        end_with_connection(&mut response);
    }
    if bodiless {
        response = response.map_body(|_, body| BoxBody::new(LeftOut(body.size())));
    }
    let route = request.as_ref().and_then(HttpRequest::match_pattern);
    trace.in_scope(|| {
        tracing::info!(
            target: "dwar::dashboard",
            method = known,
            route = route.as_deref().unwrap_or("none"),
            status = response.status().as_u16(),
            request_id = api.as_ref().map(admin_api::AdminRequestId::as_str),
            duration_ms = began.elapsed().as_secs_f64() * 1_000.0,
            "answered"
        );
    });
    let (route, status) = (route.as_deref(), Some(response.status()));
    trace.end(&TraceEnd { route, status, ..TraceEnd::default() });
    if let Some(connection) = connection {
        connection.answer();
    }
    match request {
        Some(request) => Ok(ServiceResponse::new(request, response)),
        // The request was lost with its page, and an answer needs one, so the answer is sent as an
        // error.
        None => Err(InternalError::from_response("no page", response).into()),
    }
}

/// The answer of the pages, with the request if it still exists. A panic affects only its own
/// request.
async fn answered(
    next: Next<BoxBody>,
    request: ServiceRequest,
) -> (Option<HttpRequest>, HttpResponse) {
    let work = AssertUnwindSafe(async move { next.call(request).await }).catch_unwind();
    let refused = match timeout(PATIENCE, work).await {
        Ok(Ok(Ok(answered))) => {
            let (request, response) = answered.into_parts();
            return (Some(request), response);
        }
        Ok(Ok(Err(error))) => return (None, HttpResponse::from_error(error)),
        Ok(Err(_)) => {
            tracing::error!("a request panicked");
            Refusal::Failed
        }
        Err(_) => Refusal::Unavailable,
    };
    (None, HttpResponse::from_error(refused))
}

/// A body of which only the size is sent. It is not read, so an endless one ends here.
struct LeftOut(BodySize);

impl MessageBody for LeftOut {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        self.0
    }

    fn poll_next(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(None)
    }
}

/// Refuses requests for another host, and those that a page of another origin sends.
fn admit(request: &ServiceRequest, api: bool) -> Result<(), Error> {
    let console = request.app_data::<Data<Console>>().ok_or(Refusal::Unavailable)?;
    let (names, prepared) = (&console.names, console.prepared.initialized());
    let headers = request.headers();
    let authority = only(headers, header::HOST).ok_or(Refusal::Misdirected)?;
    if !names.know(authority) {
        return Err(Refusal::Misdirected.into());
    }
    if !prepared && !assets::is_at(request.path()) {
        return Err(Refusal::Unavailable.into());
    }
    if api {
        return admin_api::admit(headers);
    }
    if request.method().is_safe() {
        return Ok(());
    }
    // Browsers send the origin with every request that changes something.
    let origin = only(headers, header::ORIGIN).ok_or(Refusal::Foreign)?;
    let site = only(headers, FETCH_SITE);
    let same_site = !headers.contains_key(FETCH_SITE) || site == Some("same-origin");
    if same_site && names.is_ours(origin, authority) {
        Ok(())
    } else {
        Err(Refusal::Foreign.into())
    }
}

/// Has the end of the connection end the body, for clients of HTTP/1.0 (RFC 9112 section 6.1).
fn end_with_connection(response: &mut HttpResponse) {
    response.head_mut().no_chunking(true);
    response.head_mut().set_connection_type(ConnectionType::Close);
}

fn complete(headers: &mut HeaderMap, tls: bool) {
    for (name, value) in ALWAYS {
        headers.insert(name, value);
    }
    if tls {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HSTS);
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
}
