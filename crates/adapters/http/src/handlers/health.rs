use crate::ErrorCode;
use crate::call::{Answer, ApiCall, ok};
use crate::json::response::{Alive, Ready};
use crate::operation::get;
use dwar_wire::openapi::Operation;
use std::time::Duration;
use tokio::time::timeout;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/healthz", "getHealth", alive)
            .summary("Check that the process lives")
            .description("Asks no store.")
            .response::<Alive>("It lives."),
        get("/readyz", "getReadiness", ready)
            .summary("Check that requests can be answered")
            .description("Proves that a write works, at most once a second for all who ask.")
            .response::<Ready<'_>>("They can.")
            .refuses([ErrorCode::ServiceUnavailable]),
    ]
}

/// A store that is silent for this long counts as down.
const PATIENCE: Duration = Duration::from_secs(2);

/// `GET /healthz`: the process lives.
pub(crate) async fn alive(_: ApiCall) -> Answer {
    ok(Alive { status: "ok" })
}

/// `GET /readyz`: a write works and the process has not been asked to stop. Loops that had to
/// be started again are named, but do not make it less ready: requests are still answered.
pub(crate) async fn ready(call: ApiCall) -> Answer {
    let stores = timeout(PATIENCE, call.api.ready.ready());
    if call.api.stopping_since().is_none() && stores.await.unwrap_or(false) {
        ok(Ready { status: "ready", loops: &call.api.ready.restarted() })
    } else {
        Err(ErrorCode::ServiceUnavailable.into())
    }
}
