use crate::ErrorCode;
use crate::call::RequestContext;
use actix_web::HttpResponse;
use actix_web::body::{BodySize, MessageBody};
use actix_web::http::StatusCode;
use dwar_app::{AnsweredRequest, Observer};
use dwar_wire::TraceEnd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::field::display;

const TARGET: &str = "dwar::access";

/// One line per request: route, caller, phone (masked) and result. It contains no other text of a
/// client except the request id: no path, no query, no header. The observer gets the same facts
/// without names.
pub(crate) struct AccessLogLine {
    observer: Arc<dyn Observer>,
    began: Instant,
    method: &'static str,
    context: Rc<RequestContext>,
    status: Option<StatusCode>,
    code: Option<&'static str>,
    bytes: u64,
}

impl AccessLogLine {
    /// Begins the line, which is written when this is dropped. So a request whose client
    /// disconnected first, and which has no status, also has a line.
    pub(crate) fn begin(
        method: &'static str,
        context: Rc<RequestContext>,
        observer: Arc<dyn Observer>,
    ) -> Self {
        let began = Instant::now();
        Self { observer, began, method, context, status: None, code: None, bytes: 0 }
    }

    pub(crate) fn answered(&mut self, response: &HttpResponse, code: Option<ErrorCode>) {
        self.status = Some(response.status());
        self.code = code.map(ErrorCode::as_str);
        if let BodySize::Sized(bytes) = response.body().size() {
            self.bytes = bytes;
        }
    }
}

impl Drop for AccessLogLine {
    fn drop(&mut self) {
        let (route, caller, took) =
            (self.context.route.get(), self.context.caller.get(), self.began.elapsed());
        let (method, code) = (self.method, self.code);
        let status = self.status.map(|status| status.as_u16());
        let answered = AnsweredRequest { route, method, status, code, took };
        self.observer.answered(&answered);
        let trace = &self.context.trace;
        trace.settle();
        trace.in_scope(|| self.write(&answered));
        trace.end(&TraceEnd { route, status: self.status, code, caller });
    }
}

impl AccessLogLine {
    fn write(&self, answered: &AnsweredRequest) {
        let AnsweredRequest { route, method, status, code, took } = *answered;
        let caller = self.context.caller.get();
        let project = caller.map(|project_mode| display(project_mode.project));
        let mode = caller.map(|project_mode| project_mode.mode.as_str());
        let phone = self.context.phone.borrow();
        tracing::info!(
            target: TARGET,
            method,
            route = route.unwrap_or("none"),
            status,
            code,
            duration_ms = took.div_duration_f64(Duration::from_millis(1)),
            request_id = self.context.request_id(),
            project,
            mode,
            phone = phone.as_ref().map(display),
            bytes = self.bytes,
            "{}", if status.is_some() { "answered" } else { "client hung up" }
        );
    }
}
