use crate::ErrorCode;
use crate::call::Trail;
use actix_web::body::{BodySize, MessageBody};
use actix_web::http::Method;
use actix_web::{HttpRequest, HttpResponse};
use std::rc::Rc;
use std::time::{Duration, Instant};
use tracing::field::display;

const TARGET: &str = "dwar::access";

/// One line per request: what was asked, by whom, about which phone (masked), how it ended.
/// It holds nothing else that a client wrote except the request id: no path, no query, no header.
pub(crate) struct Line {
    began: Instant,
    method: &'static str,
    trail: Rc<Trail>,
    status: Option<u16>,
    code: Option<&'static str>,
    bytes: u64,
}

impl Line {
    /// Begins the line; it is written when this is dropped, so that a request whose client hung
    /// up first, and which therefore has no status, has one too.
    pub(crate) fn begin(method: &Method, trail: Rc<Trail>) -> Self {
        let (began, method) = (Instant::now(), known(method));
        Self { began, method, trail, status: None, code: None, bytes: 0 }
    }

    /// Notes the answer.
    pub(crate) fn answered(&mut self, response: &HttpResponse, code: Option<ErrorCode>) {
        self.status = Some(response.status().as_u16());
        self.code = code.map(ErrorCode::as_str);
        if let BodySize::Sized(bytes) = response.body().size() {
            self.bytes = bytes;
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let caller = self.trail.caller.get();
        let project = caller.map(|(project, _)| display(project));
        let mode = caller.map(|(_, mode)| mode.as_str());
        let phone = self.trail.phone.borrow();
        tracing::info!(
            target: TARGET,
            method = self.method,
            route = self.trail.route.borrow().as_deref().unwrap_or("none"),
            status = self.status,
            code = self.code,
            duration_ms = self.began.elapsed().div_duration_f64(Duration::from_millis(1)),
            request_id = self.trail.request_id(),
            project,
            mode,
            phone = phone.as_ref().map(display),
            bytes = self.bytes,
            "{}", if self.status.is_some() { "answered" } else { "client hung up" }
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
    let usual = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    usual.into_iter().find(|name| method == name).unwrap_or("other")
}
