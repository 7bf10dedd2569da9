//! The metrics, on a listener of their own beside the API.

mod database;
mod readings;

pub use database::DatabaseFigures;
pub use readings::Measured;

use super::core::Core;
use super::error::WiringError;
use super::{gateways, operations};
use dwar_http::Listener;
use dwar_metrics::{Api, Counts, Exposition, ProgramInfo, Providers, Server, scrapes};
use std::sync::Arc;

/// A listener, and the counts that it will show.
pub struct Begun {
    listener: Listener,
    counts: Arc<Counts>,
    pub figures: Arc<DatabaseFigures>,
}

/// Starts counting everything for this listener.
///
/// # Errors
/// The settings name impossible providers.
pub fn begin(listener: Listener, core: &mut Core) -> Result<Begun, WiringError> {
    let providers = Providers {
        names: gateways::names(&core.config)?,
        reporting: gateways::reporting(&core.config)?,
        lifetime: core.parts.policies.code_lifetime,
    };
    let counts = Arc::new(Counts::new(api(), providers));
    core.parts.tools.observer = counts.clone();
    let (tools, database) = (core.parts.tools.clone(), core.database.clone());
    let (keys, queues) = (core.parts.stores.signing_keys.clone(), core.console.queues.clone());
    let figures = Arc::new(DatabaseFigures::new(tools, keys, queues, database));
    Ok(Begun { listener, counts, figures })
}

impl Begun {
    /// Makes the server that shows these counts and those of `measured`; it must be run.
    ///
    /// # Errors
    /// The operating system refused a thread or a socket.
    pub fn show(self, core: &Core, measured: Measured) -> Result<Server, WiringError> {
        let Self { listener, counts, .. } = self;
        let about = ProgramInfo {
            version: operations::version(),
            database: operations::database(core),
            started_at: core.parts.tools.now().timestamp_millis() as f64 / 1_000.0,
        };
        let exposition = Exposition::new(counts, Arc::new(measured), about);
        let served = scrapes(listener, exposition, core.config.metrics.token.clone());
        let served = served.map_err(WiringError::System)?;
        for address in served.addresses() {
            tracing::info!("metrics are on http://{address}/metrics");
        }
        Ok(served)
    }
}

/// Serves until it is stopped. The API continues if the metrics fail.
pub async fn run(served: Server) {
    if let Err(cause) = served.run().await {
        tracing::error!(%cause, "the metrics ended");
    }
}

fn api() -> Api {
    Api {
        endpoints: dwar_http::endpoints(),
        methods: dwar_http::METHODS.to_vec(),
        refusals: dwar_http::refusals(),
    }
}
