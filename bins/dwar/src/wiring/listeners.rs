use super::error::WiringError;
use crate::config::{Config, RunMode};
use dwar_http::Listener;

/// The bound addresses of the service. They are bound before a database is opened or a key created,
/// so that a second service on the same addresses leaves nothing behind.
pub struct Listeners {
    pub api: Listener,
    pub dashboard: Option<Listener>,
    pub metrics: Option<Listener>,
}

impl Listeners {
    /// Binds every address that these settings name.
    ///
    /// # Errors
    /// [`WiringError::Listen`] if the API's address is not available, or in production any other.
    /// In development a missing other address is only a warning, so that a second service works on
    /// the same machine.
    pub fn take(config: &Config) -> Result<Self, WiringError> {
        let api = take(&config.http.address)?;
        let production = config.environment == RunMode::Production;
        let beside = |what: &str, address: Option<&str>| match address.map(take).transpose() {
            Err(WiringError::Listen { address, cause }) if !production => {
                tracing::warn!(%cause, "{what}: {address} is not available");
                Ok(None)
            }
            taken => taken,
        };
        let dashboard = config.dashboard.address(production);
        let metrics = config.metrics.address(production);
        Ok(Self {
            api,
            dashboard: beside("the dashboard did not start", dashboard)?,
            metrics: beside("no metrics", metrics)?,
        })
    }
}

fn take(address: &str) -> Result<Listener, WiringError> {
    let refused = |cause| WiringError::Listen { address: address.to_owned(), cause };
    Listener::take(address).map_err(refused)
}
