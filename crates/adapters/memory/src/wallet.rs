use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};
use dwar_wallet::{
    Adjusted, Adjustment, Audit, Balance, Credit, Credited, EntryKind, HoldOutcome, Impossible,
    LedgerEntry, Movement, OpenHold, Paise, Reference, Refunded, Settlement, Wallet, WalletStore,
};
use std::collections::{BTreeMap, BTreeSet};

impl State {
    /// The entries of a project, oldest first.
    fn entries(&self, project: ProjectId) -> impl DoubleEndedIterator<Item = &LedgerEntry> {
        self.ledger.iter().filter(move |(owner, _)| *owner == project).map(|(_, entry)| entry)
    }

    fn balance(&self, project: ProjectId) -> Balance {
        self.entries(project).next_back().map(|entry| entry.after).unwrap_or_default()
    }

    /// What the entry of this kind and reference added to the balance.
    fn amount(&self, project: ProjectId, kind: EntryKind, reference: &Reference) -> Option<Paise> {
        let mut own = self.entries(project);
        own.find(|entry| entry.kind == kind && entry.reference == *reference).map(|e| e.amount)
    }

    /// Applies a rule to a project's wallet and writes down what came of it.
    pub(crate) fn apply<T>(
        &mut self,
        project: ProjectId,
        rule: impl FnOnce(&mut Wallet) -> Result<Movement<T>, Impossible>,
    ) -> Result<T, StoreError> {
        let low_balance = self.project(project).and_then(|(found, _)| found.low_balance);
        let mut wallet = Wallet { project, balance: self.balance(project), low_balance };
        let moved = rule(&mut wallet)?;
        self.ledger.extend(moved.entries.into_iter().map(|entry| (project, entry)));
        self.record(moved.event);
        Ok(moved.outcome)
    }

    /// Sets money aside for a send.
    pub(crate) fn hold(
        &mut self,
        project: ProjectId,
        send: OtpId,
        amount: Paise,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<HoldOutcome, StoreError> {
        let held = self.apply(project, |wallet| wallet.hold(send, amount, entry, now))?;
        if held == HoldOutcome::Held && amount > Paise::ZERO {
            self.holds.push(OpenHold { project, send, amount, since: now });
        }
        Ok(held)
    }

    /// What is set aside for a send.
    pub(crate) fn held(&self, project: ProjectId, send: OtpId) -> Option<Paise> {
        let mut holds = self.holds.iter();
        holds.find(|hold| (hold.project, hold.send) == (project, send)).map(|hold| hold.amount)
    }

    /// What a send was charged, and whether that was given back.
    pub(crate) fn captured(&self, project: ProjectId, send: OtpId) -> (Option<Paise>, bool) {
        let amount = |kind| self.amount(project, kind, &send.into());
        let captured = amount(EntryKind::Capture).map(|amount| Paise(-amount.0));
        (captured, amount(EntryKind::Refund).is_some())
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
        let known = state.amount(project, EntryKind::Credit, &credit.reference).is_some();
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
        let held = state.held(project, send);
        let rule = |wallet: &mut Wallet| wallet.settle(send, held, settlement, entries, now);
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
        let (captured, refunded) = state.captured(project, send);
        state.apply(project, |wallet| wallet.refund(send, captured, refunded, entry, now))
    }

    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError> {
        let state = &mut *self.step("WalletStore::adjust").await?;
        let (kind, reference) = (EntryKind::Adjustment, &adjustment.reference);
        let known = state.amount(project, kind, reference).is_some();
        state.apply(project, |wallet| wallet.adjust(&adjustment, known, now))
    }

    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError> {
        Ok(self.step("WalletStore::balance").await?.balance(project))
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
        limit: u32,
    ) -> Result<Vec<OpenHold>, StoreError> {
        let mut stale = self.step("WalletStore::stale_holds").await?.holds.clone();
        stale.retain(|hold| hold.since < before);
        stale.sort_by_key(|hold| (hold.since, hold.send));
        stale.truncate(limit as usize);
        Ok(stale)
    }

    async fn audit(&self) -> Result<Audit, StoreError> {
        let state = &*self.step("WalletStore::audit").await?;
        let projects: BTreeSet<_> = state.ledger.iter().map(|(owner, _)| *owner).collect();
        Ok(projects.into_iter().fold(Audit::default(), |audit, project| {
            let entries = Balance {
                balance: Paise(state.entries(project).map(|entry| entry.amount.0).sum()),
                held: Paise(state.entries(project).map(|entry| entry.held.0).sum()),
            };
            let open = state.holds.iter().filter(|hold| hold.project == project);
            let open = Paise(open.map(|hold| hold.amount.0).sum());
            audit.and(state.balance(project), entries, open)
        }))
    }
}
