use crate::{
    Adjusted, Adjustment, Audit, Balance, Credit, HoldOutcome, LedgerEntry, OpenHold, Paise,
    Refunded, Settlement,
};
use async_trait::async_trait;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};

/// Keeps prepaid balances and their ledger (decisions, Wallet).
///
/// Every movement writes its ledger entry in the same step. After any number of calls at once,
/// `0 <= held <= balance` and the sums of the entries MUST hold.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait WalletStore: Send + Sync {
    /// Pays money in; `false` means the reference is known and nothing changed.
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Sets `amount` aside for `send` if balance minus open holds covers it.
    ///
    /// Of any number at once, exactly as many MUST succeed as the balance covers. A project that
    /// never was credited has nothing.
    async fn hold(
        &self,
        project: ProjectId,
        send: OtpId,
        amount: Paise,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<HoldOutcome, StoreError>;

    /// Ends the hold made for `send`; `entries` name the capture and the release it may write.
    ///
    /// `false` means it has ended before or never was, and nothing changed. A capture of more
    /// than is held spends what is held.
    async fn settle(
        &self,
        project: ProjectId,
        send: OtpId,
        settlement: Settlement,
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Gives back what was captured for `send`, once: one `refund` entry with the send's id.
    async fn refund(
        &self,
        project: ProjectId,
        send: OtpId,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<Refunded, StoreError>;

    /// Corrects a balance; one `adjustment` entry.
    ///
    /// A correction downwards takes at most balance minus open holds, also against holds at the
    /// same moment. A project that never was credited has nothing.
    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError>;

    /// The wallet as it stands; zero for a project without one.
    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError>;

    /// The newest `limit` entries, newest first.
    async fn statement(
        &self,
        project: ProjectId,
        limit: u32,
    ) -> Result<Vec<LedgerEntry>, StoreError>;

    /// Holds of every project that are open since before `before`, oldest first.
    async fn stale_holds(&self, before: Timestamp, limit: u32)
    -> Result<Vec<OpenHold>, StoreError>;

    /// Recomputes every wallet from its entries and open holds.
    async fn audit(&self) -> Result<Audit, StoreError>;
}
