use dwar_activity::installation::{FORGOTTEN, Instance, InstanceStore};
use dwar_app::Toolbox;
use dwar_kernel::{InstanceId, StoreError, Timestamp};
use std::sync::Arc;

/// Reports regularly that this process runs the service.
pub struct Heartbeat {
    pub(crate) tools: Toolbox,
    pub(crate) instances: Arc<dyn InstanceStore>,
    pub(crate) id: InstanceId,
    pub(crate) started_at: Timestamp,
    pub(crate) about: About,
}

/// What a process knows of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About {
    pub version: String,
    pub host: String,
    pub pid: u32,
    pub api: String,
    /// Where its dashboard listens, if it has one.
    pub dashboard: Option<String>,
}

impl Heartbeat {
    /// One that begins now.
    pub fn new(tools: Toolbox, instances: Arc<dyn InstanceStore>, about: About) -> Self {
        let started_at = tools.now();
        let id = InstanceId::new(started_at, tools.entropy.as_ref());
        Self { tools, instances, id, started_at, about }
    }

    /// This process is alive; those that were silent for a day are forgotten. Compares the clocks.
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
        Ok(())
    }

    /// Looks at the clock of this machine; `true` if it was set, so that a beat should compare it again.
    pub fn look_at_clock(&self) -> bool {
        self.tools.watch.look()
    }

    /// This process stops.
    pub async fn leave(&self) -> Result<(), StoreError> {
        self.instances.leave(self.id).await
    }
}
