use crate::Toolbox;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError};
use dwar_project::ProjectStore;
use dwar_wallet::{
    Adjusted, Adjustment, Audit, Balance, Credit, LedgerEntry, Paise, Refunded, WalletStore,
};
use std::sync::Arc;

/// Pays in and looks into wallets; driven by the command line.
pub struct ManageWallets {
    pub tools: Toolbox,
    /// Knows which projects exist.
    pub projects: Arc<dyn ProjectStore>,
    pub wallets: Arc<dyn WalletStore>,
}

/// Why nothing was paid in, or shown.
#[derive(Debug, thiserror::Error)]
pub enum CreditError {
    /// There is no such project.
    #[error("there is no project with this id")]
    NoSuchProject,
    /// Nothing, or less, was to be paid in.
    #[error("an amount to pay in is more than zero")]
    NotPositive,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ManageWallets {
    /// Pays in; `false` if `reference` was used before, and nothing changed.
    ///
    /// Without a reference every call pays in.
    pub async fn credit(
        &self,
        project: ProjectId,
        amount: Paise,
        reference: Option<String>,
    ) -> Result<bool, CreditError> {
        if amount <= Paise::ZERO {
            return Err(CreditError::NotPositive);
        }
        self.must_exist(project).await?;
        let now = self.tools.now();
        let id = EntryId::new(now, self.tools.entropy.as_ref());
        let reference = reference.unwrap_or_else(|| id.to_string());
        Ok(self.wallets.credit(project, Credit { id, amount, reference }, now).await?)
    }

    /// Gives back what was charged for a send, once.
    pub async fn refund(&self, project: ProjectId, send: OtpId) -> Result<Refunded, CreditError> {
        self.must_exist(project).await?;
        let now = self.tools.now();
        let entry = EntryId::new(now, self.tools.entropy.as_ref());
        Ok(self.wallets.refund(project, send, entry, now).await?)
    }

    /// Corrects a balance, up or down; `reference` says why, and counts once.
    pub async fn adjust(
        &self,
        project: ProjectId,
        amount: Paise,
        reference: String,
    ) -> Result<Adjusted, CreditError> {
        self.must_exist(project).await?;
        let now = self.tools.now();
        let id = EntryId::new(now, self.tools.entropy.as_ref());
        let adjustment = Adjustment { id, amount, reference };
        Ok(self.wallets.adjust(project, adjustment, now).await?)
    }

    /// The wallet as it stands.
    pub async fn balance(&self, project: ProjectId) -> Result<Balance, CreditError> {
        self.must_exist(project).await?;
        Ok(self.wallets.balance(project).await?)
    }

    /// The newest `limit` movements, newest first.
    pub async fn statement(
        &self,
        project: ProjectId,
        limit: u32,
    ) -> Result<Vec<LedgerEntry>, CreditError> {
        self.must_exist(project).await?;
        Ok(self.wallets.statement(project, limit).await?)
    }

    /// Recomputes every wallet from its ledger.
    pub async fn audit(&self) -> Result<Audit, StoreError> {
        self.wallets.audit().await
    }

    async fn must_exist(&self, project: ProjectId) -> Result<(), CreditError> {
        let found = self.projects.find(project).await?;
        found.map(drop).ok_or(CreditError::NoSuchProject)
    }
}
