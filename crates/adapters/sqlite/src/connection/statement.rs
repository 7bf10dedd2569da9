//! The log can show which statements ran.

use diesel::connection::InstrumentationEvent;

/// Logs the text of each statement at level `trace`, without the values that are bound to it.
pub(crate) fn log(event: InstrumentationEvent<'_>) {
    if let InstrumentationEvent::StartQuery { query, .. } = event {
        let text = || query.to_string().split(" -- binds: ").next().map(str::to_owned);
        tracing::trace!(sql = text());
    }
}

#[cfg(test)]
#[path = "statement_tests.rs"]
mod tests;
