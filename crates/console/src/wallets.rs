use crate::{AuditedChange, Control, ManageError};
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, TRACE};
use dwar_operator::{Action, AuditDetails, Command, Requester, masked};
use dwar_wallet::{
    Adjusted, Adjustment, Amount, Balance, Correction, Credit, Credited, LedgerStore, Paise,
    Reference, Refunded, WalletStore,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use tracing::instrument;

/// Pays into wallets, corrects and reads them, for operators.
#[derive(Clone)]
pub struct ManageWallets {
    pub control: Control,
    pub wallets: Arc<dyn WalletStore>,
    pub ledger: Arc<dyn LedgerStore>,
}

pub(super) const INSUFFICIENT: ManageError =
    ManageError::Conflict("The available balance does not cover this.");
pub(super) const NOTHING_CAPTURED: ManageError =
    ManageError::Conflict("Nothing was charged for this send.");
pub(super) const MONTH_CLOSED: ManageError = ManageError::Conflict(
    "The month of this send is closed. Look for it in the export of that month, and correct the balance.",
);
pub(super) const TOO_MUCH: ManageError =
    ManageError::Conflict("The balance cannot exceed a thousand crore rupees.");

pub(super) fn above_zero(amount: Amount) -> Result<(), ManageError> {
    match amount {
        Amount::ZERO => Err(ManageError::invalid("amount_paise", "more than zero")),
        _ => Ok(()),
    }
}

impl ManageWallets {
    /// Pays money in; `false`, with nothing changed, if `reference` was used before.
    ///
    /// Without a reference every call pays in.
    #[instrument(name = "wallets.credit", target = TRACE, level = "error", skip_all)]
    pub async fn credit(
        &self,
        by: &Requester,
        project: ProjectId,
        amount: Amount,
        reference: Option<Reference>,
    ) -> Result<bool, ManageError> {
        self.control.project(by, Command::CreditWallet, project).await?;
        above_zero(amount)?;
        let now = self.control.tools.now();
        let id = EntryId::new(now, self.control.tools.entropy.as_ref());
        let reference = reference.unwrap_or_else(|| id.into());
        let movement = (Action::WalletCredited, masked(reference.as_str()), Some(amount.paise()));
        self.record(by, project, movement).await?;
        match self.wallets.credit(project, Credit { id, amount, reference }, now).await? {
            Credited::Booked => Ok(true),
            Credited::Known => Ok(false),
            Credited::TooMuch => Err(TOO_MUCH),
        }
    }

    /// Refunds the charge of a send, once; returns the amount, or `None` if it was refunded before.
    #[instrument(name = "wallets.refund", target = TRACE, level = "error", skip_all)]
    pub async fn refund(
        &self,
        by: &Requester,
        project: ProjectId,
        send: OtpId,
    ) -> Result<Option<Paise>, ManageError> {
        self.control.project(by, Command::RefundSend, project).await?;
        self.record(by, project, (Action::WalletRefunded, send.to_string(), None)).await?;
        let now = self.control.tools.now();
        let entry = EntryId::new(now, self.control.tools.entropy.as_ref());
        match self.wallets.refund(project, send, entry, now).await? {
            Refunded::Refunded(amount) => Ok(Some(amount)),
            Refunded::Already => Ok(None),
            Refunded::NothingCaptured => Err(NOTHING_CAPTURED),
            Refunded::Closed => Err(MONTH_CLOSED),
            Refunded::TooMuch => Err(TOO_MUCH),
        }
    }

    /// Corrects a balance; `reference` says why. `false`, with nothing changed, if it was used before.
    #[instrument(name = "wallets.adjust", target = TRACE, level = "error", skip_all)]
    pub async fn adjust(
        &self,
        by: &Requester,
        project: ProjectId,
        amount: Correction,
        reference: Reference,
    ) -> Result<bool, ManageError> {
        self.control.project(by, Command::AdjustWallet, project).await?;
        let now = self.control.tools.now();
        let id = EntryId::new(now, self.control.tools.entropy.as_ref());
        let movement = (Action::WalletAdjusted, masked(reference.as_str()), Some(amount.paise()));
        self.record(by, project, movement).await?;
        let adjustment = Adjustment { id, amount, reference };
        match self.wallets.adjust(project, adjustment, now).await? {
            Adjusted::Booked => Ok(true),
            Adjusted::Known => Ok(false),
            Adjusted::Insufficient => Err(INSUFFICIENT),
            Adjusted::TooMuch => Err(TOO_MUCH),
        }
    }

    /// The current balance of a project, with the held part.
    #[instrument(name = "wallets.balance", target = TRACE, level = "error", skip_all)]
    pub async fn balance(
        &self,
        by: &Requester,
        project: ProjectId,
    ) -> Result<Balance, ManageError> {
        self.control.project(by, Command::ShowWallet, project).await?;
        Ok(self.wallets.balance(project).await?)
    }

    /// The balances of those projects whose money the caller may see; all projects have to exist.
    #[instrument(name = "wallets.balances", target = TRACE, level = "error", skip_all)]
    pub async fn balances(
        &self,
        by: &Requester,
        mut projects: Vec<ProjectId>,
    ) -> Result<BTreeMap<ProjectId, Balance>, StoreError> {
        projects.retain(|project| by.may(Command::ShowWallet, Some(*project)));
        self.wallets.balances(projects).await
    }

    /// Recomputes every wallet from its ledger, and returns the difference.
    #[instrument(name = "wallets.audit", target = TRACE, level = "error", skip_all)]
    pub async fn audit(&self, by: &Requester) -> Result<dwar_wallet::LedgerAudit, ManageError> {
        self.control.admit(by, Command::ProveWallets, None)?;
        Ok(self.wallets.audit().await?)
    }

    /// Records the present balance and the amount to be moved; the ledger shows the result.
    async fn record(
        &self,
        by: &Requester,
        project: ProjectId,
        (action, subject, amount): (Action, String, Option<Paise>),
    ) -> Result<(), ManageError> {
        let Balance { balance, held } = self.wallets.balance(project).await?;
        let before =
            AuditDetails::new().number("balance_paise", balance.0).number("held_paise", held.0);
        let after = AuditDetails::new().maybe_number("amount_paise", amount.map(|paise| paise.0));
        let change = AuditedChange::new(action, subject).within(project);
        Ok(self.control.record(by, change.before(before).after(after)).await?)
    }
}
