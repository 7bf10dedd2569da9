use crate::Toolbox;
use dwar_kernel::{ApiKeyId, EntryId, KeyMode, ProjectId, StoreError, TRACE, Timestamp};
use dwar_project::{ApiKey, KeyRecord, NewProject, ProjectName, ProjectStore};
use dwar_wallet::{Amount, Credit, Reference, WalletStore};
use std::sync::Arc;
use tracing::instrument;

/// Makes projects with a key per mode and an opening balance.
#[derive(Clone)]
pub struct CreateProject {
    /// Ids and keys are drawn from its entropy.
    pub tools: Toolbox,
    /// Keeps projects with the digests of their keys.
    pub projects: Arc<dyn ProjectStore>,
    pub wallets: Arc<dyn WalletStore>,
}

/// A project that was just made; the only time its keys are in the clear.
#[derive(Debug)]
pub struct CreatedProject {
    /// The id that every other call uses for it.
    pub id: ProjectId,
    pub name: String,
    pub live_key: ApiKey,
    pub test_key: ApiKey,
    pub balance: Amount,
}

/// A project that is drawn up and not kept yet.
#[derive(Debug)]
pub struct DraftProject {
    pub project: CreatedProject,
    created_at: Timestamp,
}

impl CreateProject {
    /// Makes a project.
    #[instrument(name = "create_project.create", target = TRACE, level = "error", skip_all)]
    pub async fn create(
        &self,
        name: &ProjectName,
        balance: Amount,
    ) -> Result<CreatedProject, StoreError> {
        self.keep(self.draft(name, balance)).await
    }

    /// Draws a project up, for a caller that has something to do before it is kept.
    pub fn draft(&self, name: &ProjectName, balance: Amount) -> DraftProject {
        let (created_at, entropy) = (self.tools.now(), self.tools.entropy.as_ref());
        let key = |mode| ApiKey::generate(mode, entropy);
        let project = CreatedProject {
            id: ProjectId::new(created_at, entropy),
            name: name.to_string(),
            live_key: key(KeyMode::Live),
            test_key: key(KeyMode::Test),
            balance,
        };
        DraftProject { project, created_at }
    }

    /// Keeps what was drawn up.
    pub async fn keep(&self, draft: DraftProject) -> Result<CreatedProject, StoreError> {
        let (new, keys) = self.records(&draft);
        self.projects.create(new, keys).await?;
        self.open_wallet(draft).await
    }

    /// The same, but only if the store holds no project yet.
    pub async fn keep_first(
        &self,
        draft: DraftProject,
    ) -> Result<Option<CreatedProject>, StoreError> {
        let (new, keys) = self.records(&draft);
        if !self.projects.create_first(new, keys).await? {
            return Ok(None);
        }
        self.open_wallet(draft).await.map(Some)
    }

    fn records(&self, draft: &DraftProject) -> (NewProject, [KeyRecord; 2]) {
        let DraftProject { project, created_at } = draft;
        let tools = &self.tools;
        let record = |key: &ApiKey| {
            let id = ApiKeyId::new(*created_at, tools.entropy.as_ref());
            key.record(id, tools.vault.as_ref(), *created_at)
        };
        let keys = [record(&project.live_key), record(&project.test_key)];
        let (id, name) = (project.id, project.name.clone());
        (NewProject { id, name, created_at: *created_at }, keys)
    }

    async fn open_wallet(&self, draft: DraftProject) -> Result<CreatedProject, StoreError> {
        let DraftProject { project, created_at } = draft;
        if project.balance > Amount::ZERO {
            let id = EntryId::new(created_at, self.tools.entropy.as_ref());
            let reference = Reference::opening_balance();
            let credit = Credit { id, amount: project.balance, reference };
            self.wallets.credit(project.id, credit, created_at).await?;
        }
        Ok(project)
    }
}
