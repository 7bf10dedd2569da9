use crate::views::HookView;
use dwar_app::Toolbox;
use dwar_console::Management;
use dwar_console::operations::Operations;
use dwar_wire::{Document, Throttle};
use std::sync::{Arc, OnceLock};

/// What all endpoints share.
pub struct AdminApi {
    pub(crate) tools: Toolbox,
    pub(crate) manage: Management,
    pub(crate) operations: Arc<dyn Operations>,
    /// Where browsers reach the dashboard, for the links of invitations.
    pub(crate) dashboard_url: String,
    /// Where the world reaches the API, if that is configured.
    pub(crate) public_url: Option<String>,
    /// Whether the last address in `X-Forwarded-For` is the client's.
    pub(crate) behind_proxy: bool,
    pub(crate) throttle: Throttle,
    /// What describes the API, once somebody has asked; that needs no token, so no answer copies it.
    pub(crate) document: OnceLock<Document>,
}

impl AdminApi {
    /// The endpoints' way to the use cases; `dashboard_url` is what links of invitations begin with, `public_url`
    /// what addresses of hooks begin with, `behind_proxy` whether a proxy of ours says where requests come from.
    pub fn new(
        tools: Toolbox,
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
