//! What each statement costs is found out by looking at which there are.

use diesel::connection::InstrumentationEvent;

/// Logs the text of each statement at level `trace`, without the values that are bound to it.
pub(crate) fn log(event: InstrumentationEvent<'_>) {
    if let InstrumentationEvent::StartQuery { query, .. } = event {
        let text = || query.to_string().split(" -- binds: ").next().map(str::to_owned);
        tracing::trace!(sql = text());
    }
}
