use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{ProjectId, StoreError, Timestamp};
use dwar_wallet::{
    Balance, LedgerProof, LedgerStore, LedgerSum, Paise, ProofRun, ProofStart, StatementCursor,
    StatementFilter, StatementLine, WalletSnapshot,
};

impl State {
    /// The lines of a project, including those of closed months.
    pub(crate) fn lines(&self, project: ProjectId) -> Vec<StatementLine> {
        let own = self.ledger.iter().filter(|(owner, _)| *owner == project);
        let closed = self.closings.iter().filter(|closing| closing.project == project);
        let booked = own.map(|(_, line)| line.clone());
        booked.chain(closed.filter_map(StatementLine::of_closing)).collect()
    }

    /// The number of closed entries of a project.
    fn closed(&self, project: ProjectId) -> u64 {
        let closings = self.closings.iter().filter(|closing| closing.project == project);
        closings.map(|closing| closing.closed.entries).sum()
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
            .into_iter()
            .filter(|line| filter.wants(&line.entry))
            .filter(|line| after.is_none_or(|cursor| line.follows(cursor)));
        Ok(StatementFilter::merge(wanted.collect(), limit))
    }

    async fn snapshot(&self, project: ProjectId) -> Result<WalletSnapshot, StoreError> {
        let state = &*self.step("LedgerStore::snapshot").await?;
        let (balance, position) = state.wallets.get(&project).copied().unwrap_or_default();
        let open = state.holds.iter().filter(|hold| hold.project == project);
        let open = Paise(open.map(|hold| hold.amount.0).sum());
        Ok(WalletSnapshot { position, balance, open, closed: state.closed(project) })
    }

    async fn sum(
        &self,
        project: ProjectId,
        after: u64,
        through: u64,
    ) -> Result<LedgerSum, StoreError> {
        let state = &*self.step("LedgerStore::sum").await?;
        let nothing = LedgerSum { closed: state.closed(project), ..LedgerSum::default() };
        let lines = state.lines(project).into_iter();
        let wanted = lines.filter(|line| after < line.position && line.position <= through);
        Ok(wanted.fold(nothing, |sum, StatementLine { position, entry, closing }| {
            let sums = Balance { balance: entry.amount, held: entry.held };
            let entries = closing.map_or(1, |closing| closing.closed.entries);
            sum.and(LedgerSum { entries, position, sums, closed: 0 })
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
