use crate::refusals::refusals;
use crate::{Audit, Change, Toolbox};
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError};
use dwar_operator::{Action, By, Facts, masked};
use dwar_project::ProjectStore;
use dwar_wallet::{
    Adjusted, Adjustment, Balance, Credit, LedgerEntry, Paise, Refunded, WalletStore,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pays in and looks into wallets; driven by the command line.
pub struct ManageWallets {
    pub tools: Toolbox,
    pub projects: Arc<dyn ProjectStore>,
    pub wallets: Arc<dyn WalletStore>,
    pub audit: Audit,
}

refusals! {
    /// Why nothing was paid in, or shown.
    CreditError {
        NoSuchProject = "there is no project with this id",
        NotPositive = "an amount to pay in is more than zero",
        Forbidden = "your role does not allow this",
    }
}

impl ManageWallets {
    /// Pays in; `false` if `reference` was used before, and nothing changed.
    ///
    /// Without a reference every call pays in.
    pub async fn credit(
        &self,
        by: &By,
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
        let movement = (Action::WalletCredited, reference.as_str(), Some(amount));
        self.record(by, project, movement).await?;
        Ok(self.wallets.credit(project, Credit { id, amount, reference }, now).await?)
    }

    /// Gives back what was charged for a send, once.
    pub async fn refund(
        &self,
        by: &By,
        project: ProjectId,
        send: OtpId,
    ) -> Result<Refunded, CreditError> {
        self.must_exist(project).await?;
        self.record(by, project, (Action::WalletRefunded, &send.to_string(), None)).await?;
        let now = self.tools.now();
        let entry = EntryId::new(now, self.tools.entropy.as_ref());
        Ok(self.wallets.refund(project, send, entry, now).await?)
    }

    /// Corrects a balance, up or down; `reference` says why, and counts once.
    pub async fn adjust(
        &self,
        by: &By,
        project: ProjectId,
        amount: Paise,
        reference: String,
    ) -> Result<Adjusted, CreditError> {
        self.must_exist(project).await?;
        let now = self.tools.now();
        let id = EntryId::new(now, self.tools.entropy.as_ref());
        let movement = (Action::WalletAdjusted, reference.as_str(), Some(amount));
        self.record(by, project, movement).await?;
        let adjustment = Adjustment { id, amount, reference };
        Ok(self.wallets.adjust(project, adjustment, now).await?)
    }

    /// The wallet as it stands.
    pub async fn balance(&self, project: ProjectId) -> Result<Balance, CreditError> {
        self.must_exist(project).await?;
        Ok(self.wallets.balance(project).await?)
    }

    /// The wallets of these projects, which exist, as they stand.
    pub async fn balances(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<BTreeMap<ProjectId, Balance>, StoreError> {
        self.wallets.balances(projects).await
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
    pub async fn audit(&self) -> Result<dwar_wallet::Audit, StoreError> {
        self.wallets.audit().await
    }

    /// The balance before, and what is to move; what came of it says the ledger.
    async fn record(
        &self,
        by: &By,
        project: ProjectId,
        (action, reference, amount): (Action, &str, Option<Paise>),
    ) -> Result<(), CreditError> {
        let Balance { balance, held } = self.wallets.balance(project).await?;
        let before = Facts::new().number("balance_paise", balance.0).number("held_paise", held.0);
        let after = Facts::new().maybe_number("amount_paise", amount.map(|paise| paise.0));
        let change = Change::new(action, masked(reference)).within(project);
        Ok(self.audit.record(by, change.before(before).after(after)).await?)
    }

    async fn must_exist(&self, project: ProjectId) -> Result<(), CreditError> {
        let found = self.projects.find(project).await?;
        found.map(drop).ok_or(CreditError::NoSuchProject)
    }
}
