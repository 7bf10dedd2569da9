use super::background::{Background, Prepared, Restarts};
use super::core::Core;
use super::dashboard::{self, FirstSignIn, Pages};
use super::error::WiringError;
use super::gateways::{self, Providers};
use super::listeners::Listeners;
use super::local::{self, Serving};
use super::metrics::{self, Measured};
use super::readiness::Ready;
use crate::config::RunMode;
use crate::telemetry::LostLines;
use dwar_app::{CreatedProject, ExternalPorts};
use dwar_console::{ManageError, ProcessInfo};
use dwar_http::Server;
use dwar_kernel::{InstanceId, StoreError, with_causes};
use dwar_memory::{LeasedRequestLimiter, MemoryRequestLimiter};
use dwar_operator::Requester;
use dwar_project::{InvalidSetting, Project, ProjectName};
use dwar_ratelimit::RequestLimiter;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

const PREPARE_AGAIN: Duration = Duration::from_secs(2);
const DEMO_BALANCE: u32 = 10_000;

/// The whole service behind its listeners, not yet serving.
pub struct Application {
    prepared: Prepared,
    pub server: Server,
    background: Background,
    restarts: Arc<Restarts>,
    dashboard: Option<Pages>,
    metrics: Option<dwar_metrics::Server>,
}

pub struct StopHandle {
    server: dwar_http::StopHandle,
    dashboard: Option<dwar_dashboard::StopHandle>,
    metrics: Option<dwar_metrics::StopHandle>,
}

impl StopHandle {
    /// Refuses new connections, lets requests in progress finish, and returns when they have.
    pub async fn stop(&self) {
        tokio::join!(self.server.stop(), self.stop_others());
    }

    async fn stop_others(&self) {
        let pages = async {
            if let Some(dashboard) = &self.dashboard {
                dashboard.stop().await;
            }
        };
        let metrics = async {
            if let Some(metrics) = &self.metrics {
                metrics.stop().await;
            }
        };
        tokio::join!(pages, metrics);
    }
}

impl Application {
    /// Builds the service behind its listeners. It answers nothing yet.
    pub fn build(
        mut core: Core,
        listeners: Listeners,
        prepared: Prepared,
        lost: LostLines,
    ) -> Result<Self, WiringError> {
        let Listeners { api, dashboard, metrics } = listeners;
        let metrics = metrics.map(|taken| metrics::begin(taken, &mut core)).transpose()?;
        let Providers { routes, sources, carriers } = gateways::build(&core.config, &core.parts)?;
        let service = core.parts.service(ExternalPorts {
            requests: requests(&core),
            routes,
            sources,
            hook_formats: dwar_http::hooks::format_of,
            sender: core.webhook_sender()?,
        });
        let (database, restarts) = (core.database.clone(), Arc::<Restarts>::default());
        let (version, host) = (super::operations::version(), local::host());
        let watch = core.parts.tools.watch.clone();
        let ready = Ready::new(prepared.clone(), watch, restarts.clone(), database.clone());
        let ready = Arc::new(ready);
        let server = Server::new(api, core.config.http.clone(), service.use_cases.clone(), ready);
        let server = server.map_err(WiringError::System)?;
        let local = Arc::new(Serving::new(&core, carriers.clone(), restarts.clone()));
        let mut manage = core.management_of(carriers.clone())?;
        manage.alerts = manage.alerts.with_local(local.clone());
        manage.provider_test = manage.provider_test.sending(service.use_cases.send_otp.clone());
        let kept = manage.clone();
        let read = metrics.as_ref().map(|begun| begun.figures.clone());
        let show = |begun: metrics::Begun| {
            let (database, figures) = (core.database.clone(), begun.figures.clone());
            let (carriers, restarts) = (carriers.clone(), restarts.clone());
            let (watch, alerts) = (core.parts.tools.watch.clone(), kept.alerts.clone());
            let measured = Measured { database, figures, carriers, restarts, watch, alerts, lost };
            begun.show(&core, measured)
        };
        let metrics = metrics.map(show).transpose()?;
        let pages =
            |taken| dashboard::build(taken, &core, manage, &server, &prepared, carriers, &restarts);
        let dashboard = dashboard.map(pages).transpose()?;
        let shown = |addresses: &[SocketAddr]| {
            addresses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let about = ProcessInfo {
            version,
            host,
            pid: std::process::id(),
            api: shown(server.addresses()),
            dashboard: dashboard.as_ref().map(|pages| shown(pages.dashboard.addresses())),
        };
        let upkeep = core.console_parts().upkeep(about, local);
        let background = Background::new(&service, upkeep, &kept, database, read);
        Ok(Self { prepared, server, background, restarts, dashboard, metrics })
    }

    /// Signs the first operator in; `None` without a dashboard.
    pub fn first_sign_in(&self) -> Option<FirstSignIn> {
        self.dashboard.as_ref().map(|pages| pages.first_sign_in.clone())
    }

    /// The handle that ends [`Application::run`].
    pub fn stop_handle(&self) -> StopHandle {
        let dashboard = self.dashboard.as_ref().map(|pages| pages.dashboard.stop_handle());
        let metrics = self.metrics.as_ref().map(dwar_metrics::Server::stop_handle);
        StopHandle { server: self.server.stop_handle(), dashboard, metrics }
    }

    /// Serves until it is stopped, then lets requests in progress finish.
    pub async fn run(self) -> std::io::Result<()> {
        let stop = self.stop_handle();
        let background = self.background.start(&self.prepared, &self.restarts);
        let api = async {
            let served = self.server.run().await;
            // The servers beside the API have nothing left to do.
            stop.stop_others().await;
            served
        };
        let pages = async {
            if let Some(pages) = self.dashboard {
                pages.run().await;
            }
        };
        let metrics = async {
            if let Some(metrics) = self.metrics {
                metrics::run(metrics).await;
            }
        };
        let (served, (), ()) = tokio::join!(api, pages, metrics);
        background.stop().await;
        served
    }
}

/// Counts requests across instances with leased shares of the quotas if the database is a server,
/// otherwise in this process.
fn requests(core: &Core) -> Arc<dyn RequestLimiter> {
    match &core.leases {
        None => Arc::new(MemoryRequestLimiter::default()),
        Some(leases) => {
            let tools = &core.parts.tools;
            let holder = InstanceId::new(tools.now(), tools.entropy.as_ref());
            Arc::new(LeasedRequestLimiter::new(leases.clone(), holder))
        }
    }
}

/// Migrates the database, creates missing signing keys and the demo project, and warns of projects
/// that cannot work with these settings; other projects still work. Writes no time before the clock
/// agrees with the database's. An unreachable database is a transient error; see
/// [`keep_preparing`].
pub async fn prepare(core: &Core) -> Result<Option<CreatedProject>, StoreError> {
    core.database.check_engine().await?;
    core.migrate().await?;
    while core.compare_clocks().await? {
        tokio::time::sleep(PREPARE_AGAIN).await;
    }
    core.parts.signing_keys().ensure().await?;
    // Fails now, before the first client notices, if the master key cannot open the stored keys.
    core.parts.signer.public_keys(core.parts.tools.now()).await?;
    let projects = core.management().map_err(|cause| StoreError::Failed(Box::new(cause)))?.projects;
    let unfit =
        projects.unfit(&Requester::command_line()).await.map_err(ManageError::into_store_error);
    match unfit {
        Err(cause) if cause.is_transient() => return Err(cause),
        // Problems of some projects do not keep the others from working.
        Err(cause) => tracing::error!(error = %cause, "the settings of projects were not checked"),
        Ok(unfit) => {
            for (Project { id, .. }, InvalidSetting { field, reason }) in unfit {
                tracing::warn!(project = %id, field, reason, "a project cannot work as it is set");
            }
        }
    }
    if !core.config.demo || core.config.environment != RunMode::Development {
        return Ok(None);
    }
    projects.create_first(&ProjectName::demo(), DEMO_BALANCE.into()).await
}

/// Retries [`prepare`] as long as the database is unreachable.
pub async fn keep_preparing(core: &Core) -> Result<Option<CreatedProject>, StoreError> {
    loop {
        tokio::time::sleep(PREPARE_AGAIN).await;
        match prepare(core).await {
            Err(StoreError::NoRoom) => {}
            Err(cause) if cause.is_transient() => {
                tracing::warn!(error = %with_causes(&cause), "the database is still out of reach");
            }
            done => return done,
        }
    }
}
