//! Logs the statements that run.

use diesel::connection::InstrumentationEvent;

/// Logs the text of each statement at level `trace`, without its bound values.
pub(crate) fn log(event: InstrumentationEvent<'_>) {
    if let InstrumentationEvent::StartQuery { query, .. } = event {
        let text = || query.to_string().split(" -- binds: ").next().map(str::to_owned);
        tracing::trace!(sql = text());
    }
}

#[cfg(test)]
#[path = "statement_tests.rs"]
mod tests;
