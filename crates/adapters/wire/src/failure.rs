use actix_web::http::StatusCode;
use dwar_kernel::{StoreError, Timestamp, with_causes};

/// Logs a failure of a store and returns the status of the answer: 503 if a retry can help,
/// otherwise 500.
pub fn store_failed(cause: &StoreError) -> StatusCode {
    tracing::error!(error = %with_causes(cause), "the store failed");
    match cause.is_transient() {
        true => StatusCode::SERVICE_UNAVAILABLE,
        false => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Whole seconds from `now` to `at`, rounded up for `Retry-After`; zero if `at` has passed.
pub fn seconds_until(at: Timestamp, now: Timestamp) -> u64 {
    let ms = u64::try_from((at - now).num_milliseconds()).unwrap_or_default();
    ms.div_ceil(1_000)
}
