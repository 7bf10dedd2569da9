//! Spans of calls to the database.

use dwar_kernel::{StoreError, TRACE};
use tracing::Instrument;
use tracing::field::Empty;

/// Runs a call to the database in a span of the current trace, if there is one. `system` is the
/// name of the database in traces (OpenTelemetry, `db.system.name`). `name` is the part of the
/// store and the operation, such as `session.rotate`.
pub async fn traced<T>(
    system: &'static str,
    name: &'static str,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let span = tracing::error_span!(
        target: TRACE,
        "store call",
        otel.kind = "client",
        otel.name = name,
        db.system.name = system,
        db.operation.name = name,
        error.r#type = Empty,
    );
    let done = call.instrument(span.clone()).await;
    if let Err(cause) = &done {
        span.record("error.type", word(cause));
    }
    done
}

fn word(cause: &StoreError) -> &'static str {
    match cause {
        StoreError::Unavailable(_) | StoreError::Unreachable { .. } => "unavailable",
        StoreError::NoRoom => "no_room",
        StoreError::Inconsistent { .. } => "inconsistent",
        StoreError::Foreign(_) => "foreign",
        StoreError::Failed(_) => "failed",
    }
}
