use crate::ErrorCode;
use crate::call::Trail;
use actix_web::body::{BodySize, MessageBody};
use actix_web::dev::ServiceRequest;
use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use std::time::Instant;
use tracing::field::display;

const TARGET: &str = "dwar::access";

/// One line per request: what was asked, by whom, how it ended. Nothing a client wrote is in it
/// but the request id: no path, no query, no header.
pub(crate) struct Line {
    began: Instant,
    method: &'static str,
}

impl Line {
    pub(crate) fn begin(request: &ServiceRequest) -> Self {
        Self { began: Instant::now(), method: known(request.method()) }
    }

    pub(crate) fn write(&self, trail: &Trail, response: &HttpResponse, code: Option<ErrorCode>) {
        let caller = trail.caller.get();
        let project = caller.map(|(project, _)| display(project));
        let mode = caller.map(|(_, mode)| mode.as_str());
        let bytes = match response.body().size() {
            BodySize::Sized(bytes) => bytes,
            BodySize::None | BodySize::Stream => 0,
        };
        tracing::info!(
            target: TARGET,
            method = self.method,
            route = trail.route.borrow().as_deref().unwrap_or("none"),
            status = response.status().as_u16(),
            code = code.map(ErrorCode::as_str),
            duration_ms = self.began.elapsed().as_secs_f64() * 1_000.0,
            request_id = trail.request_id(),
            project,
            mode,
            bytes,
            "answered"
        );
    }
}

/// The pattern of the route that took the request, if the log wants to know.
pub(crate) fn route(request: &HttpRequest) -> Option<String> {
    let wanted = tracing::enabled!(target: TARGET, tracing::Level::INFO);
    if wanted { request.match_pattern() } else { None }
}

/// A method is any word a client likes; only the usual ones are logged as they are.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
