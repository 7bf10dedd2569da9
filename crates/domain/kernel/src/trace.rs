/// Target of spans that are part of a trace. Such a span is created only inside a trace that was chosen to be
/// kept. Log lines do not show these spans.
pub const TRACE: &str = "dwar::trace";

/// Like [`TRACE`], for a span that may begin a trace. Sampling happens when the span is created, so a span
/// that [is disabled](https://docs.rs/tracing/0.1/tracing/struct.Span.html#method.is_disabled) begins a trace
/// that is not kept.
pub const TRACE_BEGINS: &str = "dwar::trace::begins";

/// Value of the field `parent` of a span that [begins a trace](TRACE_BEGINS), until it is known whether the
/// caller may name the trace that the span belongs to.
pub const PARENT_AWAITED: &str = "awaited";
