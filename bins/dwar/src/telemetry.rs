//! Logs: structured, to standard error, pretty for people and JSON for machines. Traces: to a collector, if
//! there is one.

mod json;
mod outlet;
mod pretty;
mod traces;

pub use traces::headers as trace_headers;

use crate::colours::Colours;
use crate::config::{ConfigError, Log, LogFormat, Traces, invalid};
use dwar_kernel::TRACE;
use dwar_otlp::{TraceLayer, is_traced};
use json::Json;
use pretty::Pretty;
use std::io::{self, IsTerminal};
use tracing::{Dispatch, Level, Metadata};
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

pub type LostLines = ErrorCounter;

/// What logs and sends traces. When it is dropped, what waits is written: spans within two seconds, lines
/// within one.
#[must_use = "it ends when it is dropped"]
pub struct Telemetry {
    pub lost: LostLines,
    // In this order, since sending may still log.
    _spans: Option<traces::Outlet>,
    _lines: WorkerGuard,
}

/// Starts logging, and traces if somebody takes them. Later calls change nothing.
pub fn start(log: &Log, traces: Option<&Traces>) -> Result<Telemetry, ConfigError> {
    let (layer, spans) = traces.map(traces::open).transpose()?.flatten().unzip();
    let (lines, guard) = outlet::open(io::stderr());
    let lost = lines.error_counter();
    // Only the first of several applications in one process (tests) gets to install its own.
    let _already_started = subscriber(log, layer, lines)?.try_init();
    Ok(Telemetry { lost, _spans: spans, _lines: guard })
}

/// What takes lines and spans; without a layer for them, the spans of traces are off for good.
fn subscriber(
    log: &Log,
    layer: Option<TraceLayer>,
    lines: NonBlocking,
) -> Result<Dispatch, ConfigError> {
    let filter =
        EnvFilter::try_new(&log.level).map_err(|cause| invalid("log.level", cause.to_string()))?;
    let pretty = match log.format {
        LogFormat::Pretty => true,
        LogFormat::Json => false,
        LogFormat::Auto => io::stderr().is_terminal(),
    };
    let traced = layer.is_some();
    // Whatever the log leaves out, traces decide about their spans.
    let own = traced.then(|| format!("{TRACE}=error").parse().ok()).flatten();
    let filter = own.into_iter().fold(filter, EnvFilter::add_directive);
    let wanted = filter_fn(move |line| is_discreet(line) && (traced || !is_traced(line)));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(lines);
    Ok(if pretty {
        let builder = builder.with_ansi(Colours::of(&io::stderr()).are_on());
        let builder = builder.map_event_format(|format| Pretty { format, traced });
        builder.finish().with(wanted).with(layer).into()
    } else {
        let builder = builder.event_format(Json { traced }).fmt_fields(Json { traced });
        builder.finish().with(wanted).with(layer).into()
    })
}

/// Whether a line keeps what clients and providers say out of the log, whatever level is asked for.
///
/// Ours do. Those of libraries that trace their work quote what they carry: headers, addresses,
/// frames. Those of the HTTP parser do so at every level: what it could not read, and why the body of
/// an answer broke off. For both there are lines of ours.
fn is_discreet(line: &Metadata<'_>) -> bool {
    match line.target().split("::").next() {
        Some(ours) if ours == "dwar" || ours.starts_with("dwar_") => true,
        Some("actix_http") => false,
        _ => *line.level() <= Level::INFO,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::load;
    use dwar_kernel::TRACE_BEGINS;

    /// What requests pay for traces when they are off: the answer is kept where the span would be made.
    #[test]
    fn without_a_collector_nobody_is_asked_about_spans_of_traces() {
        let config =
            load(None, None, [("DWAR__LOG__LEVEL".to_owned(), "trace".to_owned())]).unwrap();
        let begins = tracing::error_span!(target: TRACE_BEGINS, "request");
        let part = tracing::error_span!(target: TRACE, "part");
        let (lines, _until_the_end) = outlet::open(io::sink());
        let alone = subscriber(&config.log, None, lines).unwrap();
        for span in [&begins, &part] {
            assert!(alone.register_callsite(span.metadata().unwrap()).is_never());
        }
        let traces =
            Traces { endpoint: Some("http://127.0.0.1:9".parse().unwrap()), ..config.traces };
        let (layer, _outlet) = traces::open(&traces).unwrap().unwrap();
        let (lines, _until_the_end) = outlet::open(io::sink());
        let traced = subscriber(&config.log, Some(layer), lines).unwrap();
        for span in [&begins, &part] {
            assert!(traced.register_callsite(span.metadata().unwrap()).is_sometimes());
        }
    }
}
