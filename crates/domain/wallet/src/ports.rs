use crate::{
    Adjusted, Adjustment, Audit, Balance, Credit, Credited, LedgerEntry, OpenHold, Refunded,
    Settlement,
};
use async_trait::async_trait;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};
use std::collections::BTreeMap;

/// Keeps prepaid balances and their ledger.
///
/// Every step is the rule of the same name in [`crate::Wallet`], applied to the wallet and the records
/// as of then, with its whole [`crate::Movement`] written at once. After any number of concurrent
/// calls, `0 <= held <= balance <= Amount::MOST` and the sums of the entries MUST hold. A project that
/// was never credited has nothing. Ids of entries are new.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WalletStore: Send + Sync {
    /// Pays money in, see [`crate::Wallet::credit`].
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<Credited, StoreError>;

    /// Ends the hold made for `send`, see [`crate::Wallet::settle`]; `entries` name the capture and
    /// the release it may write.
    ///
    /// `false`, with nothing changed, means it has ended before or never was. Of any number of
    /// calls at once one MUST end it.
    async fn settle(
        &self,
        project: ProjectId,
        send: OtpId,
        settlement: Settlement,
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Gives back what was captured for `send`, once, see [`crate::Wallet::refund`].
    async fn refund(
        &self,
        project: ProjectId,
        send: OtpId,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<Refunded, StoreError>;

    /// Corrects a balance, see [`crate::Wallet::adjust`], also against holds at the same moment.
    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError>;

    /// The wallet as it stands; zero for a project without one.
    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError>;

    /// The wallets of all these projects as they stand, each as [`WalletStore::balance`] gives it;
    /// in one trip, however many.
    async fn balances(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<BTreeMap<ProjectId, Balance>, StoreError>;

    /// Holds of every project that have been open since before `before`, by the ids of their sends,
    /// and in the order of these: the first ones after that of the send `after`.
    async fn stale_holds(
        &self,
        before: Timestamp,
        after: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<OpenHold>, StoreError>;

    /// Recomputes every wallet from its entries and open holds, all as of one instant.
    async fn audit(&self) -> Result<Audit, StoreError>;
}

/// Reads what single sends cost.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait ChargeStore: Send + Sync {
    /// The captures and refunds of these sends of a project, in any order.
    async fn charges(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError>;

    /// The holds, captures and releases of these sends of a project, in any order. The cost MUST depend on the
    /// number of sends alone.
    async fn steps(
        &self,
        project: ProjectId,
        sends: Vec<OtpId>,
    ) -> Result<Vec<LedgerEntry>, StoreError>;
}
