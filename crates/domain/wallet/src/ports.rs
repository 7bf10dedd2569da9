use crate::{
    Adjusted, Adjustment, Balance, Credit, Credited, DaySpend, LedgerAudit, LedgerEntry, OpenHold,
    Refunded, Settlement,
};
use async_trait::async_trait;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};
use std::collections::BTreeMap;

/// Keeps prepaid balances and their ledger.
///
/// Every step applies the rule of the same name of [`crate::Wallet`] to the wallet and its records at that
/// time, and writes the whole [`crate::Movement`] atomically. After any number of concurrent calls, `0 <=
/// held <= balance <= Amount::MOST` and the sums of the entries MUST hold. A project that was never credited
/// has a balance of zero. Ids of entries are new.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WalletStore: Send + Sync {
    /// Pays money in by [`crate::Wallet::credit`].
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<Credited, StoreError>;

    /// Ends the hold of `send` by [`crate::Wallet::settle`]; `entries` are the ids of the capture and of the
    /// release.
    ///
    /// `false`, with nothing changed, means that the hold has ended already or never existed. Exactly one of
    /// any number of concurrent calls MUST end it.
    async fn settle(
        &self,
        project: ProjectId,
        send: OtpId,
        settlement: Settlement,
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Returns the captured money of `send` once, by [`crate::Wallet::refund`].
    async fn refund(
        &self,
        project: ProjectId,
        send: OtpId,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<Refunded, StoreError>;

    /// Corrects a balance by [`crate::Wallet::adjust`], safe against concurrent holds.
    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError>;

    /// The current balance; zero for a project without a wallet.
    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError>;

    /// What the project spent on the day of its last send; [`DaySpend::on`] says whether it is today.
    async fn day_spend(&self, project: ProjectId) -> Result<DaySpend, StoreError>;

    /// The current balances of these projects, each as [`WalletStore::balance`] returns it, in one round
    /// trip.
    async fn balances(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<BTreeMap<ProjectId, Balance>, StoreError>;

    /// At most `limit` holds of all projects that have been open since before `before`, ordered by the ids of
    /// their sends, after that of the send `after`.
    async fn stale_holds(
        &self,
        before: Timestamp,
        after: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<OpenHold>, StoreError>;

    /// Recomputes every wallet from its entries and open holds, all as of one instant.
    async fn audit(&self) -> Result<LedgerAudit, StoreError>;
}

/// Reads the ledger entries of single sends.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ChargeStore: Send + Sync {
    /// The captures and refunds of these sends of a project, in any order.
    async fn charges(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError>;

    /// The holds, captures and releases of these sends of a project, in any order. The cost MUST
    /// depend only on the number of sends.
    async fn steps(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError>;
}
