use crate::views::HookView;
use dwar_app::CommonPorts;
use dwar_console::Management;
use dwar_console::operations::Operations;
use dwar_wire::{Document, Throttle};
use std::sync::{Arc, OnceLock};

/// The state that all endpoints of the admin API share: use cases and addresses.
pub struct AdminApi {
    pub(crate) tools: CommonPorts,
    pub(crate) manage: Management,
    pub(crate) operations: Arc<dyn Operations>,
    /// Where browsers reach the dashboard. Links of invitations begin with it.
    pub(crate) dashboard_url: String,
    /// Where other systems reach the API, if configured.
    pub(crate) public_url: Option<String>,
    /// Whether the last address in `X-Forwarded-For` is the client's.
    pub(crate) behind_proxy: bool,
    pub(crate) throttle: Throttle,
    /// The OpenAPI document, made at the first request. It needs no token and is shared by all
    /// answers.
    pub(crate) document: OnceLock<Document>,
}

impl AdminApi {
    /// Connects the endpoints to the use cases. Links of invitations begin with `dashboard_url`,
    /// addresses of hooks with `public_url`. `behind_proxy` says whether a trusted proxy records
    /// the address of each request.
    pub fn new(
        tools: CommonPorts,
        manage: Management,
        operations: Arc<dyn Operations>,
        dashboard_url: String,
        public_url: Option<String>,
        behind_proxy: bool,
    ) -> Self {
        let (throttle, document) = (Throttle::default(), OnceLock::new());
        Self {
            tools,
            manage,
            operations,
            dashboard_url,
            public_url,
            behind_proxy,
            throttle,
            document,
        }
    }

    pub(crate) fn hook_view(&self) -> HookView<'_> {
        HookView { now: self.tools.now(), public_url: self.public_url.as_deref() }
    }
}
