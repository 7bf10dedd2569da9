use crate::ErrorCode;
use crate::call::{Answer, ApiCall, ok};
use crate::error::ApiError;
use crate::json::response::{Alive, Ready};
use crate::operation::get;
use dwar_wire::openapi::Operation;
use std::time::Duration;
use tokio::time::timeout;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/healthz", "getHealth", alive)
            .summary("Check that the process is running")
            .description("Does not use the database.")
            .response::<Alive>("The process is running."),
        get("/readyz", "getReadiness", ready)
            .summary("Check that requests can be answered")
            .description(
                "Writes to the database to prove that writes work, at most once a second for \
                 all callers. Fails while the clock differs from the database's by 30 seconds \
                 or more; `error` says so.",
            )
            .response::<Ready<'_>>("Requests can be answered.")
            .refuses([ErrorCode::ServiceUnavailable]),
    ]
}

/// A store that does not answer for this long counts as down.
const PATIENCE: Duration = Duration::from_secs(2);

/// `GET /healthz`: the process runs.
pub(crate) async fn alive(_: ApiCall) -> Answer {
    ok(Alive { status: "ok" })
}

/// `GET /readyz`: a write works, the clock is not too far off, and the process was not asked to
/// stop. Restarted loops and a small clock difference are reported but do not affect readiness,
/// because requests are still served.
pub(crate) async fn ready(call: ApiCall) -> Answer {
    let ready = &call.api.ready;
    if let Some(hindrance) = ready.hindrance() {
        return Err(ApiError::from(ErrorCode::ServiceUnavailable).saying(&hindrance));
    }
    let stores = timeout(PATIENCE, ready.ready());
    if call.api.stopping_since().is_none() && stores.await.unwrap_or(false) {
        let (loops, clock) = (ready.restarted(), ready.clock());
        ok(Ready { status: "ready", loops: &loops, clock: clock.as_deref() })
    } else {
        Err(ErrorCode::ServiceUnavailable.into())
    }
}
