//! Logs: structured, to standard error, pretty for people and JSON for machines.

mod span_fields;

use crate::config::{ConfigError, Log, LogFormat, invalid};
use span_fields::SpanFields;
use std::io::{self, IsTerminal};
use tracing::{Level, Metadata};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Starts logging. Later calls change nothing.
pub fn start(log: &Log) -> Result<(), ConfigError> {
    let filter =
        EnvFilter::try_new(&log.level).map_err(|cause| invalid("log.level", cause.to_string()))?;
    let pretty = match log.format {
        LogFormat::Pretty => true,
        LogFormat::Json => false,
        LogFormat::Auto => io::stderr().is_terminal(),
    };
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    // Only the first of several applications in one process (tests) gets to install its own.
    let _already_started = if pretty {
        let builder = builder.with_ansi(io::stderr().is_terminal());
        builder.finish().with(filter_fn(is_discreet)).try_init()
    } else {
        let builder = builder.json().flatten_event(true).with_span_list(false);
        let builder = builder.fmt_fields(SpanFields);
        builder.finish().with(filter_fn(is_discreet)).try_init()
    };
    Ok(())
}

/// Whether a line keeps to itself what clients and providers say, whatever level is asked for.
///
/// Ours do. Those of libraries, where they tell what they are doing, quote what they carry:
/// headers, addresses, frames.
fn is_discreet(line: &Metadata<'_>) -> bool {
    let ours =
        line.target().split("::").next().is_some_and(|c| c == "dwar" || c.starts_with("dwar_"));
    ours || *line.level() <= Level::INFO
}
