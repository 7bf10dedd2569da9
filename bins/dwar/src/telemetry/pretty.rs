use dwar_otlp::{is_traced, trace_id};
use std::fmt;
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{Format, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::LookupSpan;

/// Formats lines for people. In a trace a line begins with the trace's id. Spans that belong to
/// traces are not shown, unlike in the library's format.
pub struct Pretty {
    pub format: Format,
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
        if !self.traced {
            return self.format.format_event(context, line, event);
        }
        let about = event.metadata();
        let within = context.parent_span();
        if let Some(id) = within.as_ref().and_then(trace_id) {
            write!(line, "trace_id={id} ")?;
        }
        SystemTime.format_time(&mut line)?;
        write!(line, " {:>5} ", about.level())?;
        let around = within.iter().flat_map(|span| span.scope().from_root());
        for span in around.filter(|span| !is_traced(span.metadata())) {
            line.write_str(span.name())?;
            let known = span.extensions();
            if let Some(fields) = known.get::<FormattedFields<N>>().filter(|it| !it.is_empty()) {
                write!(line, "{{{fields}}}")?;
            }
            line.write_str(": ")?;
        }
        write!(line, "{}: ", about.target())?;
        context.format_fields(line.by_ref(), event)?;
        line.write_char('\n')
    }
}
