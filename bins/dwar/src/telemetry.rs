//! Logs: structured, to standard error, pretty for people and JSON for machines.

use crate::config::{ConfigError, Log, LogFormat, invalid};
use std::io::{self, IsTerminal};
use tracing_subscriber::EnvFilter;

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
        builder.with_ansi(io::stderr().is_terminal()).try_init()
    } else {
        builder.json().flatten_event(true).with_current_span(true).with_span_list(false).try_init()
    };
    Ok(())
}
