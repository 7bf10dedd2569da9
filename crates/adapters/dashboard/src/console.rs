use crate::api_routes::ApiRoutes;
use crate::live::Live;
use crate::manual::Manual;
use crate::names::HostNames;
use crate::reference::Reference;
use actix_web::HttpRequest;
use actix_web::http::header::USER_AGENT;
use dwar_app::CommonPorts;
use dwar_console::operations::Operations;
use dwar_console::{Administration, Management, Passkeys};
use dwar_kernel::PriceList;
use dwar_operator::{Client, Device};
use dwar_otp::Providers;
use dwar_wire::client_address;
use std::sync::Arc;
use tokio::sync::SetOnce;

/// The state that all pages share: use cases, addresses and settings.
pub struct Console {
    /// Set once the stores are migrated; until then no page may use them.
    pub prepared: Arc<SetOnce<()>>,
    pub tools: CommonPorts,
    pub manage: Management,
    pub admin: Administration,
    pub passkeys: Passkeys,
    pub live: Live,
    /// The providers that pages list for a choice.
    pub providers: Arc<dyn Providers>,
    pub operations: Arc<dyn Operations>,
    pub api: Arc<dyn ApiRoutes>,
    pub reference: Reference,
    pub manual: Manual,
    /// Where clients reach the API, for examples.
    pub api_url: String,
    /// Where browsers reach these pages, for links that are sent.
    pub base_url: String,
    /// The price of a code if a project has none of its own.
    pub prices: PriceList,
    /// The host names of the dashboard.
    pub names: HostNames,
}

impl Console {
    pub(crate) fn client(&self, request: &HttpRequest) -> Client {
        let agent = request.headers().get(USER_AGENT).and_then(|agent| agent.to_str().ok());
        let address = client_address(request, self.names.tls);
        Client { address, device: agent.and_then(Device::of) }
    }
}
