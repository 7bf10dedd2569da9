//! The dashboard, on a listener of its own beside the API.

use super::background::{Prepared, Restarts};
use super::core::Core;
use super::error::WiringError;
use super::gateways::Carriers;
use super::operations::Operations;
use async_trait::async_trait;
use dwar_admin::AdminApi;
use dwar_console::{ManageOperators, Management};
use dwar_dashboard::{
    ApiAnswer, ApiRequest, ApiRoutes, Console, Dashboard, HostNames, Live, Manual, NoAnswer,
    Reference,
};
use dwar_http::{InProcess, InProcessRequest, Listener, Server};
use dwar_kernel::{ProjectId, StoreError};
use dwar_system::Argon2Hasher;
use std::net::SocketAddr;
use std::sync::Arc;

/// The name of the operator of a first start.
const FIRST: &str = "you";

/// The dashboard behind its listener, not yet serving.
pub struct Pages {
    pub dashboard: Dashboard,
    pub first_sign_in: FirstSignIn,
}

/// Makes the link with which the first operator signs in.
#[derive(Clone)]
pub struct FirstSignIn {
    operators: ManageOperators,
    base_url: String,
}

impl FirstSignIn {
    /// Makes a link that opens the dashboard once, for an owner of the installation; `None` if
    /// there are operators already.
    ///
    /// # Errors
    /// The store failed.
    pub async fn link(&self) -> Result<Option<String>, StoreError> {
        let Ok(name) = FIRST.parse() else { return Ok(None) };
        let invited = self.operators.invite_first(name).await?;
        Ok(invited.map(|one| format!("{}/start#{}", self.base_url, one.secret.expose())))
    }
}

/// Builds the dashboard behind its listener.
///
/// # Errors
/// The operating system refused a thread.
pub fn build(
    listener: Listener,
    core: &Core,
    manage: Management,
    server: &Server,
    prepared: &Prepared,
    carriers: Arc<Carriers>,
    restarts: &Arc<Restarts>,
) -> Result<Pages, WiringError> {
    let settings = &core.config.dashboard;
    let names = HostNames::of(settings, listener.addresses());
    let base_url = base_of(&settings.public_url, listener.addresses());
    let (parts, kept) = (&core.parts, core.console_parts());
    let admin = kept.administration(Arc::new(Argon2Hasher::new(core.parts.tools.entropy.clone())));
    let operations = Arc::new(Operations::new(core, carriers.clone(), restarts));
    let admin_api = AdminApi::new(
        parts.tools.clone(),
        manage.clone(),
        operations.clone(),
        base_url.clone(),
        core.public_url(),
        settings.behind_tls_proxy,
    );
    let console = Console {
        prepared: Arc::clone(prepared),
        tools: parts.tools.clone(),
        admin: admin.clone(),
        passkeys: kept.passkeys(admin.sign_in.clone(), Arc::new(dwar_passkeys::Passkeys)),
        providers: carriers,
        operations,
        live: Live::new(&manage, admin.sign_in.clone()),
        manage: manage.clone(),
        api: Arc::new(OwnApi(server.in_process().map_err(WiringError::System)?)),
        reference: Reference::of(&dwar_http::document()),
        manual: Manual::default(),
        api_url: base_of(&core.public_url().unwrap_or_default(), server.addresses()),
        base_url: base_url.clone(),
        prices: parts.policies.prices,
        names,
    };
    let dashboard = Dashboard::new(listener, console, admin_api).map_err(WiringError::System)?;
    tracing::info!("the dashboard is on {base_url}");
    let first_sign_in = FirstSignIn { operators: manage.operators, base_url };
    Ok(Pages { dashboard, first_sign_in })
}

impl Pages {
    /// Serves until it is stopped. The API continues if the dashboard fails.
    pub async fn run(self) {
        if let Err(cause) = self.dashboard.run().await {
            tracing::error!(%cause, "the dashboard ended");
        }
    }
}

/// Where browsers find a listener: at its public URL, or else at its address.
fn base_of(public_url: &str, addresses: &[SocketAddr]) -> String {
    let trimmed = public_url.trim_end_matches('/');
    if !trimmed.is_empty() {
        return trimmed.to_owned();
    }
    let address = addresses.first().map(|address| match address.ip().is_unspecified() {
        true => format!("localhost:{}", address.port()),
        false => address.to_string(),
    });
    format!("http://{}", address.unwrap_or_default())
}

struct OwnApi(InProcess);

#[async_trait]
impl ApiRoutes for OwnApi {
    async fn call(&self, project: ProjectId, request: ApiRequest) -> Result<ApiAnswer, NoAnswer> {
        let ApiRequest { method, target, body } = request;
        let answer = self.0.call(project, InProcessRequest { method, target, body }).await;
        let answer = answer.map_err(|_| NoAnswer)?;
        Ok(ApiAnswer { status: answer.status, headers: answer.headers, body: answer.body })
    }
}
