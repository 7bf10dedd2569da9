use dwar_otlp::trace_id;
use std::fmt;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// Lines for people, which begin with the id of their trace if they have one.
pub struct Pretty {
    pub format: Format,
    /// Whether there are traces.
    pub traced: bool,
}

impl<S, N> FormatEvent<S, N> for Pretty
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let current = if self.traced { context.lookup_current() } else { None };
        if let Some(id) = current.as_ref().and_then(trace_id) {
            write!(line, "trace_id={id} ")?;
        }
        self.format.format_event(context, line, event)
    }
}
