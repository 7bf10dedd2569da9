use crate::CommonPorts;
use dwar_kernel::{ApiKeyId, EntryId, KeyMode, ProjectId, StoreError, TRACE, Timestamp};
use dwar_project::{ApiKey, KeyRecord, NewProject, ProjectName, ProjectStore};
use dwar_wallet::{Amount, Credit, Reference, WalletStore};
use std::sync::Arc;
use tracing::instrument;

/// Creates projects, with one key per mode and an opening balance.
#[derive(Clone)]
pub struct CreateProject {
    pub tools: CommonPorts,
    pub projects: Arc<dyn ProjectStore>,
    pub wallets: Arc<dyn WalletStore>,
}

/// A project that was just created. Its keys are in clear only here.
#[derive(Debug)]
pub struct CreatedProject {
    pub id: ProjectId,
    pub name: String,
    pub live_key: ApiKey,
    pub test_key: ApiKey,
    pub balance: Amount,
}

/// A project that is not stored yet.
#[derive(Debug)]
pub struct DraftProject {
    pub project: CreatedProject,
    created_at: Timestamp,
}

impl CreateProject {
    /// Creates and stores a project: [`CreateProject::draft`] followed by [`CreateProject::keep`].
    #[instrument(name = "create_project.create", target = TRACE, level = "error", skip_all)]
    pub async fn create(
        &self,
        name: &ProjectName,
        balance: Amount,
    ) -> Result<CreatedProject, StoreError> {
        self.keep(self.draft(name, balance)).await
    }

    /// Makes a project without storing it, for callers that have to do something first.
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

    /// Stores a draft and pays the opening balance into its wallet.
    pub async fn keep(&self, draft: DraftProject) -> Result<CreatedProject, StoreError> {
        let (new, keys) = self.records(&draft);
        self.projects.create(new, keys).await?;
        self.open_wallet(draft).await
    }

    /// Stores a draft only if the store has no project yet; `None` if it has one.
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
