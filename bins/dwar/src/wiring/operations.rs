//! The state of the installation, for the page that shows it.

use super::background::Restarts;
use super::checks::{self, Effort, Status};
use super::core::Core;
use super::gateways::Carriers;
use super::stores::Location;
use async_trait::async_trait;
use dwar_console::operations::{Check, Health, Loop, OperationsSnapshot, Process, ProviderStatus};
use dwar_http::LoopHealth;
use dwar_kernel::Timestamp;
use std::sync::Arc;

/// Most instances, and most waiting endpoints, that are shown.
const SHOWN: u32 = 20;

pub struct Operations {
    core: Core,
    carriers: Arc<Carriers>,
    restarts: Arc<Restarts>,
    started_at: Timestamp,
}

impl Operations {
    pub fn new(core: &Core, carriers: Arc<Carriers>, restarts: &Arc<Restarts>) -> Self {
        let started_at = core.parts.tools.now();
        Self { core: core.clone(), carriers, restarts: restarts.clone(), started_at }
    }

    async fn checks(&self) -> Vec<Check> {
        let (core, config) = (&self.core, &self.core.config);
        let mut checks = vec![
            ("production", checks::production(config)),
            ("files", checks::files(config)),
            ("database", checks::database(core, Effort::Little).await),
        ];
        checks.extend(checks::stored(core, Effort::Little).await);
        // The gateways were built, or this would not be running.
        checks.push(("gateways", checks::gateways(config, Ok(()))));
        let check = |(name, found): (&'static str, checks::Finding)| {
            let health = match found.status {
                Status::Ok => Health::Good,
                Status::Warning => Health::Warning,
                Status::Failed => Health::Failed,
            };
            Check { name, health, detail: found.detail, advice: found.advice }
        };
        checks.into_iter().map(check).collect()
    }

    fn loops(&self) -> Vec<Loop> {
        let one = |LoopHealth { name, restarts, running }| Loop { name, restarts, running };
        self.restarts.all().into_iter().map(one).collect()
    }

    async fn providers(&self) -> Vec<ProviderStatus> {
        let settings = &self.core.config.gateways;
        let projects = self.core.parts.stores.projects.list().await.unwrap_or_default();
        let one = |(name, breaker): (&String, &Arc<dwar_gateways::BreakerGateway>)| {
            let state = breaker.state();
            let by_default = [("WhatsApp", &settings.whatsapp), ("SMS", &settings.sms)];
            let carries = by_default.into_iter().filter(|(_, names)| names.contains(name));
            let names_it = projects.iter().filter(|project| {
                let routing = &project.routing;
                let own = [&routing.whatsapp, &routing.sms];
                own.into_iter().flatten().any(|names| names.contains(name))
            });
            ProviderStatus {
                name: name.clone(),
                open_for: state.open_for,
                calls: state.calls,
                faults: state.faults,
                carries: carries.map(|(channel, _)| channel).collect(),
                projects: names_it.take(SHOWN as usize).map(|it| it.name.clone()).collect(),
            }
        };
        self.carriers.breakers.iter().map(one).collect()
    }

    fn process(&self) -> Process {
        let database = database(&self.core);
        Process {
            version: version(),
            database,
            started_at: self.started_at,
            memory: dwar_metrics::resident_memory(),
        }
    }
}

#[async_trait]
impl dwar_console::operations::Operations for Operations {
    async fn snapshot(&self) -> OperationsSnapshot {
        let console = &self.core.console;
        let now = self.core.parts.tools.now();
        OperationsSnapshot {
            checks: self.checks().await,
            instances: console.instances.instances(SHOWN).await.ok(),
            queues: console.queues.queues(now, SHOWN).await.ok(),
            loops: self.loops(),
            providers: self.providers().await,
            process: self.process(),
        }
    }
}

pub fn database(core: &Core) -> &'static str {
    match Location::of(&core.config.database) {
        Ok(Location::Postgres) => "PostgreSQL",
        Ok(Location::Memory) => "memory",
        _ => "SQLite",
    }
}

/// The version, and the value of `DWAR_BUILD` at build time, if any.
pub fn version() -> String {
    let build = option_env!("DWAR_BUILD").map(|build| format!(" ({build})")).unwrap_or_default();
    format!("{}{build}", env!("CARGO_PKG_VERSION"))
}
