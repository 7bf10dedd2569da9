//! Logs: structured, to standard error, pretty for people and JSON for machines.

mod json;
mod outlet;

use crate::config::{ConfigError, Log, LogFormat, invalid};
use json::Json;
use std::io::{self, IsTerminal};
use tracing::{Level, Metadata};
use tracing_appender::non_blocking::{ErrorCounter, WorkerGuard};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// Knows how many lines were lost.
pub type LostLines = ErrorCounter;

/// Logging, until it is dropped.
#[must_use = "queued lines are written when it is dropped"]
pub struct Logging {
    pub lost: LostLines,
    _guard: WorkerGuard,
}

/// Starts logging, until what this gives is dropped. Later calls change nothing.
pub fn start(log: &Log) -> Result<Logging, ConfigError> {
    let filter =
        EnvFilter::try_new(&log.level).map_err(|cause| invalid("log.level", cause.to_string()))?;
    let pretty = match log.format {
        LogFormat::Pretty => true,
        LogFormat::Json => false,
        LogFormat::Auto => io::stderr().is_terminal(),
    };
    let (lines, guard) = outlet::open(io::stderr());
    let lost = lines.error_counter();
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(lines);
    // Only the first of several applications in one process (tests) gets to install its own.
    let _already_started = if pretty {
        let builder = builder.with_ansi(io::stderr().is_terminal());
        builder.finish().with(filter_fn(is_discreet)).try_init()
    } else {
        let builder = builder.event_format(Json).fmt_fields(Json);
        builder.finish().with(filter_fn(is_discreet)).try_init()
    };
    Ok(Logging { lost, _guard: guard })
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
