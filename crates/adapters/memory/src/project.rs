use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{Digest, KeyMode, PriceList, ProjectId, StoreError, Timestamp};
use dwar_project::{
    Caller, KeyRecord, NewProject, Project, ProjectChange, ProjectChangeResult, ProjectRules,
    ProjectStore,
};

impl State {
    /// A mutable reference to the project with its keys.
    pub fn project(&mut self, id: ProjectId) -> Option<&mut (Project, [KeyRecord; 2])> {
        self.projects.iter_mut().find(|(found, _)| found.id == id)
    }

    /// Tells whether the project is archived; false for an unknown one.
    pub fn is_archived(&self, id: ProjectId) -> bool {
        self.projects.iter().any(|(it, _)| it.id == id && it.archived_at.is_some())
    }

    /// Looks up the caller of the key with this digest.
    pub fn caller(&self, digest: Digest) -> Option<Caller> {
        let mut in_use = self.projects.iter().filter(|(it, _)| it.archived_at.is_none());
        in_use.find_map(|(project, keys)| {
            let key = keys.iter().find(|key| key.digest == digest)?;
            Some(Caller { project: project.clone(), mode: key.mode, key: key.id })
        })
    }
}

#[async_trait]
impl ProjectStore for MemoryStore {
    async fn create(
        &self,
        project: NewProject,
        mut keys: [KeyRecord; 2],
    ) -> Result<(), StoreError> {
        keys.sort_by_key(|key| key.mode);
        self.step("ProjectStore::create").await?.projects.push((project.into_project(), keys));
        Ok(())
    }

    async fn create_first(
        &self,
        project: NewProject,
        keys: [KeyRecord; 2],
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("ProjectStore::create_first").await?;
        let first = state.projects.is_empty();
        if first {
            state.projects.push((project.into_project(), keys));
        }
        Ok(first)
    }

    async fn caller(&self, digest: Digest) -> Result<Option<Caller>, StoreError> {
        Ok(self.step("ProjectStore::caller").await?.caller(digest))
    }

    async fn replace_key(&self, project: ProjectId, key: KeyRecord) -> Result<bool, StoreError> {
        let state = &mut *self.step("ProjectStore::replace_key").await?;
        let place = usize::from(key.mode == KeyMode::Test);
        Ok(state.project(project).map(|(_, keys)| keys[place] = key).is_some())
    }

    async fn change(
        &self,
        project: ProjectId,
        change: ProjectChange,
        rules: ProjectRules,
    ) -> Result<ProjectChangeResult, StoreError> {
        let state = &mut *self.step("ProjectStore::change").await?;
        let Some((found, _)) = state.project(project) else {
            return Ok(ProjectChangeResult::NoSuchProject);
        };
        Ok(match found.clone().changed(change, &rules) {
            Ok(changed) => {
                found.clone_from(&changed);
                ProjectChangeResult::Done(Box::new(changed))
            }
            Err(cause) => ProjectChangeResult::Refused(cause),
        })
    }

    async fn set_archived(
        &self,
        project: ProjectId,
        at: Option<Timestamp>,
    ) -> Result<Option<Project>, StoreError> {
        let state = &mut *self.step("ProjectStore::set_archived").await?;
        Ok(state.project(project).map(|(found, _)| {
            *found = found.clone().archived(at);
            found.clone()
        }))
    }

    async fn find(&self, project: ProjectId) -> Result<Option<Project>, StoreError> {
        let list = ProjectStore::list(self).await?;
        Ok(list.into_iter().find(|found| found.id == project))
    }

    async fn keys(&self, project: ProjectId) -> Result<Vec<KeyRecord>, StoreError> {
        let state = &mut *self.step("ProjectStore::keys").await?;
        Ok(state.project(project).map(|(_, keys)| keys.to_vec()).unwrap_or_default())
    }

    async fn list(&self) -> Result<Vec<Project>, StoreError> {
        let state = &*self.step("ProjectStore::list").await?;
        let mut list: Vec<_> = state.projects.iter().map(|(found, _)| found.clone()).collect();
        list.sort_by_key(|project| project.created_at);
        Ok(list)
    }

    async fn short_of_money(
        &self,
        prices: PriceList,
        others: Vec<ProjectId>,
    ) -> Result<Vec<Project>, StoreError> {
        let state = &*self.step("ProjectStore::short_of_money").await?;
        let is_short = |project: &Project| {
            let Some((balance, _)) = state.wallets.get(&project.id) else { return false };
            let PriceList { whatsapp, sms } = project.prices.over(prices);
            balance.available() < whatsapp.max(sms)
                || project.low_balance.is_some_and(|low| balance.balance < low)
        };
        let in_use = state.projects.iter().map(|(found, _)| found);
        let in_use = in_use.filter(|project| project.archived_at.is_none());
        let mut found: Vec<_> = in_use
            .filter(|project| is_short(project) || others.contains(&project.id))
            .cloned()
            .collect();
        found.sort_by_key(|project| project.created_at);
        Ok(found)
    }
}
