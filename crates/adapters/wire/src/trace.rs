use actix_web::http::StatusCode;
use actix_web::http::header::{HeaderMap, HeaderName};
use dwar_kernel::{PARENT_AWAITED, ProjectMode, TRACE_BEGINS};
use std::cell::Cell;
use tracing::field::{Empty, display};
use tracing::instrument::Instrumented;
use tracing::{Instrument, Span};

/// W3C Trace Context. `tracestate` and baggage are not read.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The span of one request, if its trace is recorded.
pub struct RequestTrace {
    span: Span,
    method: &'static str,
    /// The trace that the caller claims to continue, until the caller is authenticated.
    claimed: Cell<Option<String>>,
}

/// The end of a request, as recorded in its trace.
#[derive(Default)]
pub struct TraceEnd<'request> {
    pub route: Option<&'request str>,
    /// `None` if the client did not wait for the answer.
    pub status: Option<StatusCode>,
    pub code: Option<&'static str>,
    pub caller: Option<ProjectMode>,
}

impl RequestTrace {
    /// Begins the trace of a request. `method` is one of the [known words](crate::known_method).
    /// Pass `headers` only if the request may carry a key; only `traceparent` is read.
    pub fn begin(method: &'static str, headers: Option<&HeaderMap>) -> Self {
        let claimed = || headers.and_then(Self::claimed);
        let span = tracing::error_span!(
            target: TRACE_BEGINS,
            "request",
            parent = claimed().map(|_| PARENT_AWAITED),
            end = Empty,
            otel.kind = "server",
            otel.name = method,
            http.request.method = method,
            http.route = Empty,
            http.response.status_code = Empty,
            error.r#type = Empty,
            dwar.code = Empty,
            dwar.project = Empty,
            dwar.mode = Empty,
        );
        let claimed = if span.is_disabled() { None } else { claimed() };
        Self { span, method, claimed: Cell::new(claimed) }
    }

    fn claimed(headers: &HeaderMap) -> Option<String> {
        let mut values = headers.get_all(TRACEPARENT);
        let (first, more) = (values.next()?, values.next());
        first.to_str().ok().filter(|_| more.is_none()).map(str::to_owned)
    }

    /// Runs a function as part of the trace.
    pub fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        self.span.in_scope(work)
    }

    /// Like [`RequestTrace::in_scope`], for a future, whenever it is polled.
    pub fn follow<F: Future>(&self, work: F) -> Instrumented<F> {
        work.instrument(self.span.clone())
    }

    /// Continues the caller's trace, after the caller has shown a valid key.
    pub fn believe(&self) {
        if let Some(parent) = self.claimed.take() {
            self.span.record("parent", parent);
        }
    }

    /// Makes the trace our own, if it does not continue a caller's.
    pub fn settle(&self) {
        if self.claimed.take().is_some() {
            self.span.record("parent", "");
        }
    }

    /// Ends the span. Work that the client does not wait for may continue within the trace.
    pub fn end(&self, end: &TraceEnd<'_>) {
        if self.span.is_disabled() {
            return;
        }
        self.settle();
        let (span, method) = (&self.span, self.method);
        if let Some(route) = end.route {
            span.record("http.route", route).record("otel.name", format!("{method} {route}"));
        }
        if let Some(status) = end.status {
            span.record("http.response.status_code", status.as_u16());
            if status.is_server_error() {
                span.record("error.type", end.code.unwrap_or(status.as_str()));
            }
        }
        if let Some(project_mode) = end.caller {
            span.record("dwar.project", display(project_mode.project))
                .record("dwar.mode", project_mode.mode.as_str());
        }
        span.record("dwar.code", end.code).record("end", true);
    }
}
