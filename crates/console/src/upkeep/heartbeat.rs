use crate::alerts::LocalFacts;
use dwar_activity::installation::{AlertStore, FORGOTTEN, Instance, InstanceStore};
use dwar_app::CommonPorts;
use dwar_kernel::{InstanceId, StoreError, Timestamp};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Reports regularly that this process runs the service, and its own problems.
pub struct Heartbeat {
    pub(crate) tools: CommonPorts,
    pub(crate) instances: Arc<dyn InstanceStore>,
    pub(crate) alerts: Arc<dyn AlertStore>,
    pub(crate) local: Arc<dyn LocalFacts>,
    /// Whether no problem of this process is on record.
    pub(crate) clean: AtomicBool,
    pub(crate) id: InstanceId,
    pub(crate) started_at: Timestamp,
    pub(crate) about: ProcessInfo,
}

/// Facts that a process knows about itself and reports with each heartbeat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProcessInfo {
    pub version: String,
    pub host: String,
    pub pid: u32,
    pub api: String,
    /// Address of its dashboard, if it has one.
    pub dashboard: Option<String>,
}

impl Heartbeat {
    /// A heartbeat of a process that starts now, with a new instance id.
    pub fn new(
        tools: CommonPorts,
        instances: Arc<dyn InstanceStore>,
        alerts: Arc<dyn AlertStore>,
        about: ProcessInfo,
        local: Arc<dyn LocalFacts>,
    ) -> Self {
        let started_at = tools.now();
        let id = InstanceId::new(started_at, tools.entropy.as_ref());
        let clean = AtomicBool::new(true);
        Self { tools, instances, alerts, local, clean, id, started_at, about }
    }

    /// Reports that this process is alive, and deletes instances that were silent for a day. Compares the
    /// clocks.
    pub async fn beat(&self) -> Result<(), StoreError> {
        let watch = &self.tools.watch;
        let (now, about) = (watch.shared_now(), self.about.clone());
        let instance = Instance {
            id: self.id,
            started_at: self.started_at,
            seen_at: now,
            version: about.version,
            host: about.host,
            pid: about.pid,
            api: about.api,
            dashboard: about.dashboard,
        };
        let asked = watch.moment();
        if let Some(shown) = self.instances.beat(instance, now - FORGOTTEN).await? {
            watch.compare(asked, shown);
        }
        self.report().await
    }

    /// Writes nothing if there are no problems and none are on record.
    async fn report(&self) -> Result<(), StoreError> {
        let troubles = self.local.troubles();
        let is_clean = troubles.is_empty();
        if is_clean && self.clean.load(Ordering::Relaxed) {
            return Ok(());
        }
        self.alerts.report(self.id, troubles).await?;
        self.clean.store(is_clean, Ordering::Relaxed);
        Ok(())
    }

    /// Reads the clock of this machine; `true` if it was set, so that a heartbeat should compare it again.
    pub fn look_at_clock(&self) -> bool {
        self.tools.watch.look()
    }

    /// Removes this process from the record, because it stops.
    pub async fn leave(&self) -> Result<(), StoreError> {
        self.instances.leave(self.id).await
    }
}
