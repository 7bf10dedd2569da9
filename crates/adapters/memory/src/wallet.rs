use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};
use dwar_wallet::{
    Adjusted, Adjustment, Balance, Credit, Credited, DaySpend, EntryKind, HoldOutcome,
    ImpossibleBalance, LedgerAudit, LedgerEntry, Movement, OpenHold, Paise, Reference, Refunded,
    Settlement, StatementLine, Wallet, WalletStore,
};
use std::collections::BTreeMap;

impl State {
    fn balance(&self, project: ProjectId) -> Balance {
        self.wallets.get(&project).map(|(balance, _)| *balance).unwrap_or_default()
    }

    fn day_spend(&self, project: ProjectId) -> DaySpend {
        self.day_spends.get(&project).copied().unwrap_or_default()
    }

    fn entry(
        &self,
        project: ProjectId,
        kind: EntryKind,
        reference: &Reference,
    ) -> Option<&LedgerEntry> {
        let own = self.ledger.iter().filter(|(owner, _)| *owner == project);
        own.map(|(_, line)| &line.entry)
            .find(|entry| entry.kind == kind && entry.reference == *reference)
    }

    /// Applies a rule to a project's wallet and stores the result.
    pub(crate) fn apply<T>(
        &mut self,
        project: ProjectId,
        rule: impl FnOnce(&mut Wallet) -> Result<Movement<T>, ImpossibleBalance>,
    ) -> Result<T, StoreError> {
        let found = self.project(project).map(|(found, _)| (found.low_balance, found.daily_spend));
        let (low_balance, daily_spend) = found.unwrap_or_default();
        let (balance, spend) = (self.balance(project), self.day_spend(project));
        let mut wallet = Wallet { project, balance, low_balance, spend, daily_spend };
        let moved = rule(&mut wallet)?;
        self.day_spends.insert(project, wallet.spend);
        for entry in moved.entries {
            let (balance, position) = self.wallets.entry(project).or_default();
            (*balance, *position) = (entry.after, *position + 1);
            let line = StatementLine { position: *position, entry, closing: None };
            self.ledger.push((project, line));
        }
        self.record(moved.events);
        Ok(moved.outcome)
    }

    pub(crate) fn hold(
        &mut self,
        hold: OpenHold,
        entry: EntryId,
    ) -> Result<HoldOutcome, StoreError> {
        let held = self.apply(hold.project, |wallet| wallet.hold(&hold, entry))?;
        if held == HoldOutcome::Held && hold.amount > Paise::ZERO {
            self.holds.push(hold);
        }
        Ok(held)
    }

    pub(crate) fn held(&self, project: ProjectId, send: OtpId) -> Option<OpenHold> {
        let mut holds = self.holds.iter();
        holds.find(|hold| (hold.project, hold.send) == (project, send)).copied()
    }

    /// The entry that charged a send, and whether it was refunded.
    pub(crate) fn captured(&self, project: ProjectId, send: OtpId) -> (Option<LedgerEntry>, bool) {
        let entry = |kind| self.entry(project, kind, &send.into());
        (entry(EntryKind::Capture).cloned(), entry(EntryKind::Refund).is_some())
    }
}

#[async_trait]
impl WalletStore for MemoryStore {
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<Credited, StoreError> {
        let state = &mut *self.step("WalletStore::credit").await?;
        let known = state.entry(project, EntryKind::Credit, &credit.reference).is_some();
        state.apply(project, |wallet| wallet.credit(&credit, known, now))
    }

    async fn settle(
        &self,
        project: ProjectId,
        send: OtpId,
        settlement: Settlement,
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let state = &mut *self.step("WalletStore::settle").await?;
        let hold = state.held(project, send);
        let rule = |wallet: &mut Wallet| wallet.settle(hold, settlement, entries, now);
        let ended = state.apply(project, rule)?;
        state.holds.retain(|hold| (hold.project, hold.send) != (project, send));
        Ok(ended)
    }

    async fn refund(
        &self,
        project: ProjectId,
        send: OtpId,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<Refunded, StoreError> {
        let state = &mut *self.step("WalletStore::refund").await?;
        let (capture, refunded) = state.captured(project, send);
        let closed_until = state.closed_until(project);
        let rule = |wallet: &mut Wallet| wallet.refund(capture.as_ref(), refunded, entry, now);
        Ok(state.apply(project, rule)?.or_closed(send, closed_until))
    }

    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError> {
        let state = &mut *self.step("WalletStore::adjust").await?;
        let (kind, reference) = (EntryKind::Adjustment, &adjustment.reference);
        let known = state.entry(project, kind, reference).is_some();
        state.apply(project, |wallet| wallet.adjust(&adjustment, known, now))
    }

    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError> {
        Ok(self.step("WalletStore::balance").await?.balance(project))
    }

    async fn day_spend(&self, project: ProjectId) -> Result<DaySpend, StoreError> {
        Ok(self.step("WalletStore::day_spend").await?.day_spend(project))
    }

    async fn balances(
        &self,
        projects: Vec<ProjectId>,
    ) -> Result<BTreeMap<ProjectId, Balance>, StoreError> {
        let state = &*self.step("WalletStore::balances").await?;
        Ok(projects.into_iter().map(|project| (project, state.balance(project))).collect())
    }

    async fn stale_holds(
        &self,
        before: Timestamp,
        after: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<OpenHold>, StoreError> {
        let mut stale = self.step("WalletStore::stale_holds").await?.holds.clone();
        stale.retain(|hold| hold.since < before && after.is_none_or(|after| after < hold.send));
        stale.sort_by_key(|hold| hold.send);
        stale.truncate(limit as usize);
        Ok(stale)
    }

    async fn audit(&self) -> Result<LedgerAudit, StoreError> {
        let state = &*self.step("WalletStore::audit").await?;
        Ok(state.wallets.iter().fold(LedgerAudit::default(), |audit, (project, (stored, _))| {
            let told = |of: fn(&LedgerEntry) -> Paise| {
                Paise(state.lines(*project).iter().map(|line| of(&line.entry).0).sum())
            };
            let entries = Balance { balance: told(|it| it.amount), held: told(|it| it.held) };
            let open = state.holds.iter().filter(|hold| hold.project == *project);
            let open = Paise(open.map(|hold| hold.amount.0).sum());
            audit.and(*stored, entries, open)
        }))
    }
}
