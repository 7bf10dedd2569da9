use crate::Toolbox;
use dwar_kernel::{ApiKeyId, EntryId, KeyMode, ProjectId, StoreError, Timestamp};
use dwar_project::{ApiKey, KeyRecord, NewProject, Project, ProjectChange, ProjectStore};
use dwar_wallet::{Credit, Paise, WalletStore};
use std::sync::Arc;

/// Makes and changes projects and their keys; driven by the command line.
pub struct ManageProjects {
    /// Time, randomness, vault.
    pub tools: Toolbox,
    /// Keeps projects.
    pub projects: Arc<dyn ProjectStore>,
    /// Takes the opening balance.
    pub wallets: Arc<dyn WalletStore>,
}

/// A project that was just made; the only time its keys are in the clear.
#[derive(Debug)]
pub struct CreatedProject {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// Its live key.
    pub live_key: ApiKey,
    /// Its test key.
    pub test_key: ApiKey,
    /// Its opening balance.
    pub balance: Paise,
}

/// Why no key was made.
#[derive(Debug, thiserror::Error)]
pub enum RegenerateKeyError {
    /// There is no such project.
    #[error("there is no project with this id")]
    NoSuchProject,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ManageProjects {
    /// Makes a project with a key per mode and an opening balance.
    pub async fn create(&self, name: &str, balance: Paise) -> Result<CreatedProject, StoreError> {
        let now = self.tools.now();
        let (new, live_key, test_key) = self.compose(name, now);
        let id = new.id;
        let records = [&live_key, &test_key].map(|key| self.record(key, now));
        self.projects.create(new, records).await?;
        self.open_wallet(id, balance, now).await?;
        Ok(CreatedProject { id, name: name.to_owned(), live_key, test_key, balance })
    }

    /// As [`ManageProjects::create`], but only if the store holds no project yet.
    pub async fn create_first(
        &self,
        name: &str,
        balance: Paise,
    ) -> Result<Option<CreatedProject>, StoreError> {
        let now = self.tools.now();
        let (new, live_key, test_key) = self.compose(name, now);
        let id = new.id;
        let records = [&live_key, &test_key].map(|key| self.record(key, now));
        if !self.projects.create_first(new, records).await? {
            return Ok(None);
        }
        self.open_wallet(id, balance, now).await?;
        Ok(Some(CreatedProject { id, name: name.to_owned(), live_key, test_key, balance }))
    }

    /// Puts a fresh key in the place of the present one, which ends before this returns.
    pub async fn regenerate_key(
        &self,
        project: ProjectId,
        mode: KeyMode,
    ) -> Result<ApiKey, RegenerateKeyError> {
        let key = ApiKey::generate(mode, self.tools.entropy.as_ref());
        let record = self.record(&key, self.tools.now());
        let replaced = self.projects.replace_key(project, record).await?;
        if replaced { Ok(key) } else { Err(RegenerateKeyError::NoSuchProject) }
    }

    /// Changes settings, for the very next request; `None` if there is no such project.
    pub async fn change(
        &self,
        project: ProjectId,
        change: ProjectChange,
    ) -> Result<Option<Project>, StoreError> {
        self.projects.change(project, change).await
    }

    /// Every project, oldest first.
    pub async fn list(&self) -> Result<Vec<Project>, StoreError> {
        self.projects.list().await
    }

    /// One project with its keys, or `None`.
    pub async fn show(
        &self,
        project: ProjectId,
    ) -> Result<Option<(Project, Vec<KeyRecord>)>, StoreError> {
        match self.projects.find(project).await? {
            Some(found) => Ok(Some((found, self.projects.keys(project).await?))),
            None => Ok(None),
        }
    }

    fn compose(&self, name: &str, now: Timestamp) -> (NewProject, ApiKey, ApiKey) {
        let entropy = self.tools.entropy.as_ref();
        let id = ProjectId::new(now, entropy);
        let new = NewProject { id, name: name.to_owned(), created_at: now };
        let key = |mode| ApiKey::generate(mode, entropy);
        (new, key(KeyMode::Live), key(KeyMode::Test))
    }

    fn record(&self, key: &ApiKey, now: Timestamp) -> KeyRecord {
        let id = ApiKeyId::new(now, self.tools.entropy.as_ref());
        key.record(id, self.tools.vault.as_ref(), now)
    }

    async fn open_wallet(
        &self,
        project: ProjectId,
        balance: Paise,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if balance > Paise::ZERO {
            let id = EntryId::new(now, self.tools.entropy.as_ref());
            let credit = Credit { id, amount: balance, reference: "opening balance".to_owned() };
            self.wallets.credit(project, credit, now).await?;
        }
        Ok(())
    }
}
