use crate::MemoryStore;
use crate::store::State;
use async_trait::async_trait;
use dwar_activity::installation::{
    AlertChanges, AlertStore, InstanceTrouble, OpenAlert, ReportedTrouble,
};
use dwar_kernel::{InstanceId, StoreError, Timestamp};

#[async_trait]
impl AlertStore for MemoryStore {
    async fn report(
        &self,
        instance: InstanceId,
        troubles: Vec<InstanceTrouble>,
    ) -> Result<(), StoreError> {
        let state = &mut *self.step("AlertStore::report").await?;
        state.troubles.retain(|(of, _)| *of != instance);
        if state.instances.iter().any(|it| it.id == instance) {
            state.troubles.extend(troubles.into_iter().map(|trouble| (instance, trouble)));
        }
        Ok(())
    }

    async fn reported(&self, since: Timestamp) -> Result<Vec<ReportedTrouble>, StoreError> {
        let state = &*self.step("AlertStore::reported").await?;
        let seen = |of| state.instances.iter().find(|it| it.id == of && since <= it.seen_at);
        let one = |(of, trouble): &(InstanceId, InstanceTrouble)| {
            Some(ReportedTrouble { host: seen(*of)?.host.clone(), trouble: trouble.clone() })
        };
        let mut found: Vec<_> = state.troubles.iter().filter_map(one).collect();
        let key = |it: &ReportedTrouble| {
            (it.host.clone(), it.trouble.kind.as_str(), it.trouble.about.clone())
        };
        found.sort_by_key(key);
        Ok(found)
    }

    async fn open_alerts(&self) -> Result<Vec<OpenAlert>, StoreError> {
        Ok(self.step("AlertStore::open_alerts").await?.alerts.clone())
    }

    async fn settle_alerts(&self, open: Vec<OpenAlert>) -> Result<AlertChanges, StoreError> {
        let state = &mut *self.step("AlertStore::settle_alerts").await?;
        let changes = AlertChanges::between(&state.alerts, open);
        state.alerts.retain(|it| !changes.over.contains(it));
        state.alerts.extend(changes.opened.iter().cloned());
        state.alerts.sort_by_key(|it| (it.kind.as_str(), it.about.clone()));
        Ok(changes)
    }
}

impl State {
    /// Drops the troubles of instances that no longer exist.
    pub fn drop_troubles(&mut self) {
        let Self { instances, troubles, .. } = self;
        troubles.retain(|(of, _)| instances.iter().any(|it| it.id == *of));
    }
}
