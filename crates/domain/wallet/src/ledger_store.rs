use crate::{
    LedgerProof, LedgerSum, ProofRun, ProofStart, StatementCursor, StatementFilter, StatementLine,
    WalletSnapshot,
};
use async_trait::async_trait;
use dwar_kernel::{ProjectId, StoreError, Timestamp};

/// Reads the ledger of a project, and keeps the results of its proofs.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait LedgerStore: Send + Sync {
    /// At most `limit` entries that match the filter after `after`: newest first, equal times by
    /// descending position. The cost MUST depend only on `limit`.
    async fn lines(
        &self,
        project: ProjectId,
        filter: StatementFilter,
        after: Option<StatementCursor>,
        limit: u32,
    ) -> Result<Vec<StatementLine>, StoreError>;

    /// The wallet and its open holds at one instant; all zero if there is no wallet.
    async fn snapshot(&self, project: ProjectId) -> Result<WalletSnapshot, StoreError>;

    /// The sum of the entries at positions above `after` and up to `through`.
    async fn sum(
        &self,
        project: ProjectId,
        after: u64,
        through: u64,
    ) -> Result<LedgerSum, StoreError>;

    /// Begins a proof by [`ProofRun::or_running`]. Exactly one of any number of concurrent calls MUST begin.
    async fn begin_proof(&self, run: ProofRun) -> Result<ProofStart, StoreError>;

    /// Notes that the run which began at `since` is still alive; `false` if another run has replaced it.
    async fn continue_proof(
        &self,
        project: ProjectId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Records a proof and ends its run. Nothing changes, and the result is `false`, if another run has
    /// replaced that run.
    ///
    /// The newest [`LedgerProof::KEPT`] proofs of each project are kept, and the last sound one.
    async fn end_proof(&self, proof: LedgerProof) -> Result<bool, StoreError>;

    /// The newest proof of a project, whether it is sound or not.
    async fn last_proof(&self, project: ProjectId) -> Result<Option<LedgerProof>, StoreError>;

    async fn last_sound_proof(&self, project: ProjectId)
    -> Result<Option<LedgerProof>, StoreError>;

    /// The run on record; [`ProofRun::is_alive`] says whether it is still running.
    async fn proof_run(&self, project: ProjectId) -> Result<Option<ProofRun>, StoreError>;
}
