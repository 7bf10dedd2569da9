use crate::{AuditedChange, BegunProofs, Control, ManageError, ProofScope};
use dwar_kernel::{OtpId, ProjectId, StoreError, TRACE, with_causes};
use dwar_operator::{Action, Command, Requester};
use dwar_wallet::{
    ChargeStore, GroupedLine, LedgerProof, LedgerStore, LedgerSum, ProofRun, ProofStart,
    StatementCursor, StatementFilter, StatementLine,
};
use futures_util::StreamExt;
use std::collections::BTreeSet;
use std::sync::Arc;
use tracing::instrument;

/// Entries that one read of the store adds up, which takes a few milliseconds.
const BATCH: u64 = 10_000;

const AT_ONCE: usize = 4;

/// Entries that a page of grouped lines reads at once, and most reads per page: a burst of sends has many
/// holds in a row whose charges are on later pages.
const READ: u32 = 100;
const READS: usize = 5;

const TOO_MANY: ManageError =
    ManageError::Conflict("Too many ledger checks are waiting. Nothing was started.");

/// Reads the ledger of a project, and proves that it adds up to the stored wallet.
#[derive(Clone)]
pub struct ManageLedger {
    pub control: Control,
    pub ledger: Arc<dyn LedgerStore>,
    pub charges: Arc<dyn ChargeStore>,
    pub begun: Arc<BegunProofs>,
}

/// State of the proofs of a ledger: the last one, and the running one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerProofState {
    pub last: Option<LedgerProof>,
    pub running: Option<ProofRun>,
}

/// A page of grouped statement lines, and where the next one begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupedPage {
    pub lines: Vec<GroupedLine>,
    /// `None` after the last page.
    pub next: Option<StatementCursor>,
}

impl ManageLedger {
    /// At most `limit` entries that match the filter, after `after`, newest first.
    #[instrument(name = "ledger.lines", target = TRACE, level = "error", skip_all)]
    pub async fn lines(
        &self,
        by: &Requester,
        project: ProjectId,
        filter: StatementFilter,
        after: Option<StatementCursor>,
        limit: u32,
    ) -> Result<Vec<StatementLine>, ManageError> {
        self.control.project(by, Command::ListWalletEntries, project).await?;
        Ok(self.ledger.lines(project, filter, after, limit).await?)
    }

    /// Like [`ManageLedger::lines`], with one line per send; without grouping if the filter names a kind.
    #[instrument(name = "ledger.grouped_lines", target = TRACE, level = "error", skip_all)]
    pub async fn grouped_lines(
        &self,
        by: &Requester,
        project: ProjectId,
        filter: StatementFilter,
        mut after: Option<StatementCursor>,
        limit: usize,
    ) -> Result<GroupedPage, ManageError> {
        let mut page = GroupedPage { lines: Vec::new(), next: None };
        for _ in 0..READS {
            let lines = self.lines(by, project, filter.clone(), after, READ).await?;
            after =
                lines.last().filter(|_| lines.len() == READ as usize).map(StatementLine::cursor);
            let steps = match filter.kind {
                None => self.charges.steps(project, sends_of(&lines)).await?,
                Some(_) => Vec::new(),
            };
            page.lines.extend(GroupedLine::group(lines, steps));
            if page.lines.len() > limit {
                page.lines.truncate(limit);
                after = page.lines.last().map(|last| last.line.cursor());
            }
            if after.is_none() || page.lines.len() >= limit {
                break;
            }
        }
        Ok(GroupedPage { next: after, ..page })
    }

    /// The last proof, and the one under way.
    #[instrument(name = "ledger.proven", target = TRACE, level = "error", skip_all)]
    pub async fn proven(
        &self,
        by: &Requester,
        project: ProjectId,
    ) -> Result<LedgerProofState, ManageError> {
        self.control.project(by, Command::ShowWalletProof, project).await?;
        Ok(LedgerProofState {
            last: self.ledger.last_proof(project).await?,
            running: self.running(project).await?,
        })
    }

    async fn running(&self, project: ProjectId) -> Result<Option<ProofRun>, StoreError> {
        let now = self.control.tools.now();
        Ok(self.ledger.proof_run(project).await?.filter(|run| run.is_alive(now)))
    }

    /// Begins a proof that [`ManageLedger::keep_proving`] of this process will make, without waiting for it. One of any
    /// number of concurrent calls begins it, and the others get the running one.
    ///
    /// # Errors
    /// [`ManageError::Conflict`] if too many proofs wait.
    #[instrument(name = "ledger.begin", target = TRACE, level = "error", skip_all)]
    pub async fn begin(
        &self,
        by: &Requester,
        project: ProjectId,
        scope: ProofScope,
    ) -> Result<ProofStart, ManageError> {
        self.control.admit(by, Command::BeginWalletProof, Some(project))?;
        if self.begun.is_full() {
            return Err(TOO_MANY);
        }
        let start = self.begin_here(by, project).await?;
        if let ProofStart::Begun(run) = &start {
            self.begun.push(run.clone(), scope);
        }
        Ok(start)
    }

    /// Makes the proofs that are begun in this process, a few concurrently, until `stopped`; those under way
    /// are then finished. A panic is not caught.
    pub async fn keep_proving(&self, stopped: impl Future<Output = ()> + Send) {
        let begun = self.begun.stream().take_until(stopped);
        let made = begun.for_each_concurrent(AT_ONCE, |(run, scope)| async move {
            let project = run.project;
            if let Err(error) = self.prove(run, scope).await {
                tracing::warn!(%project, error = %with_causes(&error), "a proof of a ledger was not made");
            }
        });
        made.await;
    }

    /// Like [`ManageLedger::begin`], for a caller that makes the proof itself by [`ManageLedger::prove`].
    #[instrument(name = "ledger.begin_here", target = TRACE, level = "error", skip_all)]
    pub async fn begin_here(
        &self,
        by: &Requester,
        project: ProjectId,
    ) -> Result<ProofStart, ManageError> {
        self.control.project(by, Command::BeginWalletProof, project).await?;
        if let Some(run) = self.running(project).await? {
            return Ok(ProofStart::Running(run));
        }
        let change = AuditedChange::new(Action::LedgerProved, project).within(project);
        self.control.record(by, change).await?;
        let run = ProofRun::begin(project, by.actor.to_string(), self.control.tools.now());
        Ok(self.ledger.begin_proof(run).await?)
    }

    /// Makes a begun proof in bounded steps that block no writer, and records it. `None` if its lease expired
    /// meanwhile and another proof began.
    ///
    /// It proves the wallet as of the first step: later entries have higher positions.
    #[instrument(name = "ledger.prove", target = TRACE, level = "error", skip_all)]
    pub async fn prove(
        &self,
        run: ProofRun,
        scope: ProofScope,
    ) -> Result<Option<LedgerProof>, StoreError> {
        let ProofRun { project, since, by, mut seen_at } = run;
        let proved = match scope {
            ProofScope::Everything => None,
            ProofScope::Newer => self.ledger.last_sound_proof(project).await?,
        };
        let mut snapshot = self.ledger.snapshot(project).await?;
        let fitting = proved.map(|proof| proof.sum).filter(|sum| sum.closed == snapshot.closed);
        let mut sum = fitting.unwrap_or_default();
        let mut reached = sum.position;
        while reached < snapshot.position {
            let through = reached.saturating_add(BATCH).min(snapshot.position);
            let next: LedgerSum = self.ledger.sum(project, reached, through).await?;
            (sum, reached) = (sum.and(next), through);
            if next.closed != snapshot.closed {
                // Entries were closed meanwhile, which moves amounts between positions: start again.
                snapshot = self.ledger.snapshot(project).await?;
                (sum, reached) = (LedgerSum::default(), 0);
            }
            let now = self.control.tools.now();
            if now >= seen_at + ProofRun::LEASE / 4 {
                if !self.ledger.continue_proof(project, since, now).await? {
                    return Ok(None);
                }
                seen_at = now;
            }
        }
        let proof =
            LedgerProof { project, since, at: self.control.tools.now(), by, sum, wallet: snapshot };
        if !proof.is_sound() {
            tracing::error!(%project, ?proof, "a ledger does not add up to its wallet");
        }
        Ok(self.ledger.end_proof(proof.clone()).await?.then_some(proof))
    }
}

/// The sends that these entries belong to, each once.
fn sends_of(lines: &[StatementLine]) -> Vec<OtpId> {
    let entries = lines.iter().map(|line| &line.entry);
    let of_sends = entries.filter(|entry| entry.kind.follows_a_send());
    let sends = of_sends.filter_map(|entry| entry.reference.as_str().parse().ok());
    sends.collect::<BTreeSet<_>>().into_iter().collect()
}
