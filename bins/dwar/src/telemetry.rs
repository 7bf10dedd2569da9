//! Logs to standard error, pretty for people or as JSON for machines, and traces to a collector if
//! one is configured.

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

/// The running logs and traces. When dropped, writes what waits: spans within two seconds, lines
/// within one.
#[must_use = "it ends when it is dropped"]
pub struct Telemetry {
    pub lost: LostLines,
    // In this order, because sending spans may still log.
    _spans: Option<traces::Outlet>,
    _lines: WorkerGuard,
}

/// Starts logging, and traces if a collector is configured. Later calls change nothing.
pub fn start(log: &Log, traces: Option<&Traces>) -> Result<Telemetry, ConfigError> {
    let (layer, spans) = traces.map(traces::open).transpose()?.flatten().unzip();
    let (lines, guard) = outlet::open(io::stderr());
    let lost = lines.error_counter();
    // Only the first of several applications in one process (tests) can install its subscriber.
    let _already_started = subscriber(log, layer, lines)?.try_init();
    Ok(Telemetry { lost, _spans: spans, _lines: guard })
}

/// The subscriber for lines and spans. Without a layer for them, spans of traces are disabled for
/// good.
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
    // Spans of traces pass whatever level the log has.
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

/// Tells whether a line is free of text from clients and providers, at any log level.
///
/// Our lines are. Libraries that trace their work quote what they transport: headers, addresses,
/// frames. The HTTP parser does so at every level: bytes that it could not parse, and why the body
/// of an answer broke off. We log both cases ourselves.
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

    /// The cost of traces for requests when they are off: the decision is cached where the span
    /// would be made.
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
