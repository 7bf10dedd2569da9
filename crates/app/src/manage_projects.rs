use crate::Toolbox;
use dwar_kernel::{ApiKeyId, EntryId, KeyMode, ProjectId, StoreError, Timestamp};
use dwar_project::{ApiKey, KeyRecord, NewProject, Project, ProjectChange, ProjectStore};
use dwar_wallet::{Credit, Paise, WalletStore};
use std::sync::Arc;

/// Makes and changes projects and their keys; driven by the command line.
pub struct ManageProjects {
    pub tools: Toolbox,
    pub projects: Arc<dyn ProjectStore>,
    /// Takes the opening balance.
    pub wallets: Arc<dyn WalletStore>,
}

/// A project that was just made; the only time its keys are in the clear.
#[derive(Debug)]
pub struct CreatedProject {
    pub id: ProjectId,
    pub name: String,
    pub live_key: ApiKey,
    pub test_key: ApiKey,
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
        let (new, created) = self.compose(name, balance, now);
        self.projects.create(new, self.records(&created, now)).await?;
        self.open_wallet(&created, now).await?;
        Ok(created)
    }

    /// As [`ManageProjects::create`], but only if the store holds no project yet.
    pub async fn create_first(
        &self,
        name: &str,
        balance: Paise,
    ) -> Result<Option<CreatedProject>, StoreError> {
        let now = self.tools.now();
        let (new, created) = self.compose(name, balance, now);
        if !self.projects.create_first(new, self.records(&created, now)).await? {
            return Ok(None);
        }
        self.open_wallet(&created, now).await?;
        Ok(Some(created))
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

    fn compose(&self, name: &str, balance: Paise, now: Timestamp) -> (NewProject, CreatedProject) {
        let entropy = self.tools.entropy.as_ref();
        let id = ProjectId::new(now, entropy);
        let new = NewProject { id, name: name.to_owned(), created_at: now };
        let key = |mode| ApiKey::generate(mode, entropy);
        let (live_key, test_key) = (key(KeyMode::Live), key(KeyMode::Test));
        (new, CreatedProject { id, name: name.to_owned(), live_key, test_key, balance })
    }

    fn records(&self, created: &CreatedProject, now: Timestamp) -> [KeyRecord; 2] {
        [&created.live_key, &created.test_key].map(|key| self.record(key, now))
    }

    fn record(&self, key: &ApiKey, now: Timestamp) -> KeyRecord {
        let id = ApiKeyId::new(now, self.tools.entropy.as_ref());
        key.record(id, self.tools.vault.as_ref(), now)
    }

    async fn open_wallet(
        &self,
        created: &CreatedProject,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        if created.balance > Paise::ZERO {
            let id = EntryId::new(now, self.tools.entropy.as_ref());
            let reference = "opening balance".to_owned();
            let credit = Credit { id, amount: created.balance, reference };
            self.wallets.credit(created.id, credit, now).await?;
        }
        Ok(())
    }
}
