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
    /// Whether the last address in `X-Forwarded-For` is the client's.
    pub(crate) behind_proxy: bool,
    pub(crate) throttle: Throttle,
    /// What describes the API, once somebody has asked; that needs no token, so no answer copies it.
    pub(crate) document: OnceLock<Document>,
}

impl AdminApi {
    /// The endpoints' way to the use cases; `dashboard_url` is what links of invitations begin with,
    /// `behind_proxy` whether a proxy of ours says where requests come from.
    pub fn new(
        tools: Toolbox,
        manage: Management,
        operations: Arc<dyn Operations>,
        dashboard_url: String,
        behind_proxy: bool,
    ) -> Self {
        let (throttle, document) = (Throttle::default(), OnceLock::new());
        Self { tools, manage, operations, dashboard_url, behind_proxy, throttle, document }
    }
}
