use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_activity::Grain;
use dwar_kernel::{KeyMode, ProjectId, StoreError, Timestamp};
use dwar_ratelimit::GuardStore;
use dwar_ratelimit::guard::{GuardLevel, LevelChange, StoredLevel};

#[async_trait]
impl GuardStore for MemoryStore {
    async fn change_levels(
        &self,
        changes: Vec<LevelChange>,
        now: Timestamp,
    ) -> Result<Vec<StoredLevel>, StoreError> {
        let state = &mut *self.step("GuardStore::change_levels").await?;
        let mut apply = |change: &LevelChange| {
            let key = (change.project, change.subject);
            let left = change.apply(state.guard_levels.get(&key).copied(), now);
            state.guard_levels.insert(key, left.level);
            left
        };
        Ok(changes.iter().map(&mut apply).collect())
    }

    async fn changed_levels(
        &self,
        projects: Vec<ProjectId>,
        since: Timestamp,
    ) -> Result<Vec<StoredLevel>, StoreError> {
        let state = &*self.step("GuardStore::changed_levels").await?;
        let levels = state.guard_levels.iter();
        let levels =
            levels.filter(|((project, _), level)| projects.contains(project) && level.at >= since);
        let stored = |((project, subject), level): (&(_, _), &_)| StoredLevel {
            project: *project,
            subject: *subject,
            level: *level,
        };
        Ok(levels.map(stored).collect())
    }

    async fn verified(
        &self,
        project: ProjectId,
        from: Timestamp,
        until: Timestamp,
    ) -> Result<u64, StoreError> {
        let state = &*self.step("GuardStore::verified").await?;
        let project_mode = project.in_mode(KeyMode::Live);
        let days = state.figures.iter().filter(|((grain, began_at, key), _)| {
            *grain == Grain::Day
                && (from..until).contains(began_at)
                && key.project_mode == project_mode
        });
        Ok(days.map(|(_, counts)| counts.verified).sum())
    }

    async fn sweep_levels(&self, now: Timestamp) -> Result<u64, StoreError> {
        let state = &mut *self.step("GuardStore::sweep_levels").await?;
        let known = now - GuardLevel::KNOWN_AFTER;
        let before = state.guard_levels.len();
        state.guard_levels.retain(|_, level| level.at > known || !level.is_full(known));
        Ok((before - state.guard_levels.len()) as u64)
    }
}
