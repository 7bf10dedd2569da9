//! The spans of calls to the database.

use dwar_kernel::{StoreError, TRACE};
use tracing::Instrument;
use tracing::field::Empty;

/// Does a call to the database as a span of the trace that it is part of, if there is one. `system` is what traces call
/// the database (OpenTelemetry, `db.system.name`); `name` says which part of the store it is and what it does, such as
/// `session.rotate`.
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
