use crate::store::MemoryStore;
use async_trait::async_trait;
use dwar_kernel::{Digest, KeyMode, ProjectId, StoreError};
use dwar_project::{Caller, KeyRecord, NewProject, Project, ProjectChange, ProjectStore};

#[async_trait]
impl ProjectStore for MemoryStore {
    async fn create(
        &self,
        project: NewProject,
        mut keys: [KeyRecord; 2],
    ) -> Result<(), StoreError> {
        keys.sort_by_key(|key| key.mode);
        self.step("ProjectStore::create", |state| {
            state.projects.push((project.into_project(), keys))
        })
        .await
    }

    async fn create_first(
        &self,
        project: NewProject,
        keys: [KeyRecord; 2],
    ) -> Result<bool, StoreError> {
        self.step("ProjectStore::create_first", |state| {
            let first = state.projects.is_empty();
            if first {
                state.projects.push((project.into_project(), keys));
            }
            first
        })
        .await
    }

    async fn caller(&self, digest: Digest) -> Result<Option<Caller>, StoreError> {
        self.step("ProjectStore::caller", |state| {
            state.projects.iter().find_map(|(project, keys)| {
                let key = keys.iter().find(|key| key.digest == digest)?;
                Some(Caller { project: project.clone(), mode: key.mode, key: key.id })
            })
        })
        .await
    }

    async fn replace_key(&self, project: ProjectId, key: KeyRecord) -> Result<bool, StoreError> {
        self.step("ProjectStore::replace_key", |state| {
            let found = state.projects.iter_mut().find(|(found, _)| found.id == project);
            let place = found.map(|(_, keys)| &mut keys[usize::from(key.mode == KeyMode::Test)]);
            place.map(|place| *place = key).is_some()
        })
        .await
    }

    async fn change(
        &self,
        project: ProjectId,
        change: ProjectChange,
    ) -> Result<Option<Project>, StoreError> {
        self.step("ProjectStore::change", |state| {
            let (found, _) = state.projects.iter_mut().find(|(found, _)| found.id == project)?;
            found.apply(change);
            Some(found.clone())
        })
        .await
    }

    async fn find(&self, project: ProjectId) -> Result<Option<Project>, StoreError> {
        let list = ProjectStore::list(self).await?;
        Ok(list.into_iter().find(|found| found.id == project))
    }

    async fn keys(&self, project: ProjectId) -> Result<Vec<KeyRecord>, StoreError> {
        self.step("ProjectStore::keys", |state| {
            let found = state.projects.iter().find(|(found, _)| found.id == project);
            found.map(|(_, keys)| keys.to_vec()).unwrap_or_default()
        })
        .await
    }

    async fn list(&self) -> Result<Vec<Project>, StoreError> {
        self.step("ProjectStore::list", |state| {
            let mut list: Vec<_> = state.projects.iter().map(|(found, _)| found.clone()).collect();
            list.sort_by_key(|project| project.created_at);
            list
        })
        .await
    }
}
