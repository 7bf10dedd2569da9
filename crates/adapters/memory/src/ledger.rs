use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use dwar_wallet::{
    Balance, LedgerProof, LedgerStore, LedgerSum, Paise, ProofRun, ProofStart, StatementCursor,
    StatementFilter, StatementLine, WalletSnapshot,
};

impl State {
    /// The lines of a project, oldest first.
    fn lines(&self, project: ProjectId) -> impl Iterator<Item = StatementLine> {
        let own = self.ledger.iter().filter(move |(owner, _)| *owner == project);
        (1..)
            .zip(own)
            .map(|(position, (_, entry))| StatementLine { position, entry: entry.clone() })
    }

    fn newest_proof(
        &self,
        project: ProjectId,
        wanted: impl Fn(&LedgerProof) -> bool,
    ) -> Option<LedgerProof> {
        let own = self.proofs.iter().filter(|proof| proof.project == project && wanted(proof));
        own.max_by_key(|proof| proof.since).cloned()
    }
}

#[async_trait]
impl LedgerStore for MemoryStore {
    async fn lines(
        &self,
        project: ProjectId,
        filter: StatementFilter,
        after: Option<StatementCursor>,
        limit: u32,
    ) -> Result<Vec<StatementLine>, StoreError> {
        let state = &*self.step("LedgerStore::lines").await?;
        let wanted = state
            .lines(project)
            .filter(|line| filter.wants(&line.entry))
            .filter(|line| after.is_none_or(|cursor| line.follows(cursor)));
        Ok(StatementFilter::merge(wanted.collect(), limit))
    }

    async fn snapshot(&self, project: ProjectId) -> Result<WalletSnapshot, StoreError> {
        let state = &*self.step("LedgerStore::snapshot").await?;
        let last = state.lines(project).last();
        let open = state.holds.iter().filter(|hold| hold.project == project);
        Ok(WalletSnapshot {
            position: last.as_ref().map_or(0, |line| line.position),
            balance: last.map(|line| line.entry.after).unwrap_or_default(),
            open: Paise(open.map(|hold| hold.amount.0).sum()),
        })
    }

    async fn sum(
        &self,
        project: ProjectId,
        after: u64,
        through: u64,
    ) -> Result<LedgerSum, StoreError> {
        let state = &*self.step("LedgerStore::sum").await?;
        let wanted = state.lines(project).filter(|line| after < line.position);
        let wanted = wanted.filter(|line| line.position <= through);
        Ok(wanted.fold(LedgerSum::default(), |sum, StatementLine { position, entry }| {
            let sums = Balance { balance: entry.amount, held: entry.held };
            sum.and(LedgerSum { entries: 1, position, sums })
        }))
    }

    async fn begin_proof(&self, run: ProofRun) -> Result<ProofStart, StoreError> {
        let state = &mut *self.step("LedgerStore::begin_proof").await?;
        let present = state.proof_runs.get(&run.project).cloned();
        let start = ProofRun::or_running(present, run);
        if let ProofStart::Begun(run) = &start {
            state.proof_runs.insert(run.project, run.clone());
        }
        Ok(start)
    }

    async fn continue_proof(
        &self,
        project: ProjectId,
        since: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("LedgerStore::continue_proof").await?;
        let run = state.proof_runs.get_mut(&project).filter(|run| run.since == since);
        Ok(run.map(|run| run.seen_at = now).is_some())
    }

    async fn end_proof(&self, proof: LedgerProof) -> Result<bool, StoreError> {
        let state = &mut *self.step("LedgerStore::end_proof").await?;
        let project = proof.project;
        if state.proof_runs.get(&project).is_none_or(|run| run.since != proof.since) {
            return Ok(false);
        }
        state.proof_runs.remove(&project);
        state.proofs.push(proof);
        let sound = state.newest_proof(project, LedgerProof::is_sound).map(|proof| proof.since);
        let own = state.proofs.iter().filter(|proof| proof.project == project);
        let mut own: Vec<_> = own.map(|proof| proof.since).collect();
        own.sort_by(|one, other| other.cmp(one));
        own.truncate(LedgerProof::KEPT as usize);
        state.proofs.retain(|proof| {
            proof.project != project || own.contains(&proof.since) || Some(proof.since) == sound
        });
        Ok(true)
    }

    async fn last_proof(&self, project: ProjectId) -> Result<Option<LedgerProof>, StoreError> {
        Ok(self.step("LedgerStore::last_proof").await?.newest_proof(project, |_| true))
    }

    async fn last_sound_proof(
        &self,
        project: ProjectId,
    ) -> Result<Option<LedgerProof>, StoreError> {
        let state = &*self.step("LedgerStore::last_sound_proof").await?;
        Ok(state.newest_proof(project, LedgerProof::is_sound))
    }

    async fn proof_run(&self, project: ProjectId) -> Result<Option<ProofRun>, StoreError> {
        Ok(self.step("LedgerStore::proof_run").await?.proof_runs.get(&project).cloned())
    }
}
