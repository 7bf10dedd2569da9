use crate::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{HookId, NewSecret, ProjectId, StoreError};
use dwar_project::{Caller, Hook, HookCaller, HookChange, HookStore};

#[async_trait]
impl HookStore for MemoryStore {
    async fn add_hook(&self, hook: Hook) -> Result<bool, StoreError> {
        let state = &mut *self.step("HookStore::add_hook").await?;
        let there = state
            .hooks
            .iter()
            .filter(|known| known.project_mode.project == hook.project_mode.project)
            .count();
        let fits = there < Hook::MOST;
        if fits {
            state.hooks.push(hook);
        }
        Ok(fits)
    }

    async fn hooks(&self, project: ProjectId) -> Result<Vec<Hook>, StoreError> {
        let state = &*self.step("HookStore::hooks").await?;
        let mut hooks: Vec<_> = state
            .hooks
            .iter()
            .filter(|hook| hook.project_mode.project == project)
            .cloned()
            .collect();
        hooks.sort_by_key(|hook| (hook.created_at, hook.id));
        Ok(hooks)
    }

    async fn hook_caller(&self, hook: HookId) -> Result<Option<HookCaller>, StoreError> {
        let state = &mut *self.step("HookStore::hook_caller").await?;
        let Some(hook) = state.hooks.iter().find(|known| known.id == hook).cloned() else {
            return Ok(None);
        };
        let owner =
            state.project(hook.project_mode.project).filter(|(it, _)| it.archived_at.is_none());
        Ok(owner.and_then(|(project, keys)| {
            let key = keys.iter().find(|key| key.mode == hook.project_mode.mode)?;
            let caller = Caller { project: project.clone(), mode: key.mode, key: key.id };
            Some(HookCaller { hook, caller })
        }))
    }

    async fn change_hook(
        &self,
        project: ProjectId,
        hook: HookId,
        change: HookChange,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("HookStore::change_hook").await?;
        let mut hooks = state.hooks.iter_mut();
        let found = hooks.find(|known| known.project_mode.project == project && known.id == hook);
        Ok(found.map(|hook| change.apply(hook)).is_some())
    }

    async fn replace_hook_secret(
        &self,
        project: ProjectId,
        hook: HookId,
        secret: NewSecret,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("HookStore::replace_hook_secret").await?;
        let mut hooks = state.hooks.iter_mut();
        let found = hooks.find(|known| known.project_mode.project == project && known.id == hook);
        Ok(found.map(|hook| hook.secret.replace(secret)).is_some())
    }

    async fn remove_hook(&self, project: ProjectId, hook: HookId) -> Result<bool, StoreError> {
        let state = &mut *self.step("HookStore::remove_hook").await?;
        let gone = |known: &mut Hook| known.project_mode.project == project && known.id == hook;
        Ok(state.hooks.extract_if(.., gone).count() == 1)
    }
}
