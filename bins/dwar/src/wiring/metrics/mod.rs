//! The metrics alongside the API, on a listener of their own.

mod database;
mod readings;

pub use database::DatabaseFigures;
pub use readings::Measured;

use super::core::{Core, WiringError};
use super::{gateways, operations};
use crate::config::RunMode;
use dwar_app::Parts;
use dwar_metrics::{About, Api, Counts, Endpoint, Exposition, Listener, Providers, Scrapes};
use std::sync::Arc;

/// An address that is taken, and what is counted for it.
pub struct Begun {
    listener: Listener,
    address: String,
    counts: Arc<Counts>,
    pub figures: Arc<DatabaseFigures>,
}

/// Takes the address and has everything counted from here on; `None` if nobody is to look.
///
/// # Errors
/// [`WiringError::Listen`] in production, if the address is not available. In development that is a
/// warning: a second service on the same machine works without it.
pub fn begin(core: &mut Core) -> Result<Option<Begun>, WiringError> {
    let production = core.config.environment == RunMode::Production;
    let Some(address) = core.config.metrics.address(production) else { return Ok(None) };
    let listener = match Listener::take(address) {
        Ok(listener) => listener,
        Err(cause) if !production => {
            tracing::warn!(%cause, "no metrics: {address} is not available");
            return Ok(None);
        }
        Err(cause) => return Err(WiringError::Listen { address: address.to_owned(), cause }),
    };
    let providers = Providers {
        names: gateways::names(&core.config)?,
        reporting: gateways::reporting(&core.config)?,
        lifetime: core.parts.policies.otp.lifetime,
    };
    let (address, counts) = (address.to_owned(), Arc::new(Counts::new(api(), providers)));
    core.parts.tools.observer = counts.clone();
    let Parts { tools, stores, .. } = core.parts.clone();
    let figures = Arc::new(DatabaseFigures::new(tools, stores, core.database.clone()));
    Ok(Some(Begun { listener, address, counts, figures }))
}

impl Begun {
    /// Shows what is counted, here and by `measured`; not before it is run.
    ///
    /// # Errors
    /// The operating system refused a thread or a socket.
    pub fn show(self, core: &Core, measured: Measured) -> Result<Scrapes, WiringError> {
        let Self { listener, address, counts, .. } = self;
        let about = About {
            version: operations::version(),
            database: operations::database(core),
            started_at: core.parts.tools.now().timestamp_millis() as f64 / 1_000.0,
        };
        let exposition = Exposition::new(counts, Arc::new(measured), about);
        let scrapes = Scrapes::new(listener, exposition, core.config.metrics.token.clone());
        let scrapes = scrapes.map_err(|cause| WiringError::Listen { address, cause })?;
        for address in scrapes.addresses() {
            tracing::info!("metrics are on http://{address}/metrics");
        }
        Ok(scrapes)
    }
}

/// Serves until it is stopped. The API goes on without it.
pub async fn run(scrapes: Scrapes) {
    if let Err(cause) = scrapes.run().await {
        tracing::error!(%cause, "the metrics ended");
    }
}

/// What requests are told apart by.
fn api() -> Api {
    let endpoint = |it: dwar_http::Endpoint| {
        let dwar_http::Endpoint { route, method, answers } = it;
        Endpoint { route, method, answers }
    };
    Api {
        endpoints: dwar_http::endpoints().into_iter().map(endpoint).collect(),
        methods: dwar_http::METHODS.to_vec(),
        refusals: dwar_http::refusals(),
    }
}
