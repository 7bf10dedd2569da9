/// The target of spans that are part of a trace. None of them is made unless a trace surrounds it that was
/// chosen to be kept; log lines show none of them.
pub const TRACE: &str = "dwar::trace";

/// As [`TRACE`], of a span that begins a trace where none surrounds it. Whether it is kept is drawn when it is
/// made, so a span that [is disabled](https://docs.rs/tracing/0.1/tracing/struct.Span.html#method.is_disabled)
/// says that this one is not.
pub const TRACE_BEGINS: &str = "dwar::trace::begins";

/// What the field `parent` of a span that [begins a trace](TRACE_BEGINS) holds while it is not known whether
/// the caller may say which trace this is part of.
pub const PARENT_AWAITED: &str = "awaited";
