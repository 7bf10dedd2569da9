use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, Timestamp};
use dwar_wallet::{
    Adjusted, Adjustment, Audit, Balance, Credit, EntryKind, HoldOutcome, Impossible, LedgerEntry,
    Movement, OpenHold, Paise, Refunded, Settlement, Wallet, WalletStore,
};
use std::collections::BTreeSet;

impl State {
    fn balance(&self, project: ProjectId) -> Balance {
        let newest = self.ledger.iter().rev().find(|(owner, _)| *owner == project);
        newest.map(|(_, entry)| entry.after).unwrap_or_default()
    }

    /// What the entry of this kind and reference added to the balance.
    fn amount(&self, project: ProjectId, kind: EntryKind, reference: &str) -> Option<Paise> {
        let mut own = self.ledger.iter().filter(|(owner, _)| *owner == project);
        let found = own.find(|(_, entry)| entry.kind == kind && entry.reference == reference);
        found.map(|(_, entry)| entry.amount)
    }

    fn apply<T>(
        &mut self,
        project: ProjectId,
        rule: impl FnOnce(&mut Wallet) -> Result<Movement<T>, Impossible>,
    ) -> Result<T, StoreError> {
        let found = self.projects.iter().find(|(found, _)| found.id == project);
        let low_balance = found.and_then(|(found, _)| found.low_balance);
        let mut wallet = Wallet { project, balance: self.balance(project), low_balance };
        let moved = rule(&mut wallet)?;
        self.ledger.extend(moved.entries.into_iter().map(|entry| (project, entry)));
        if let Some(event) = &moved.event {
            self.record(event);
        }
        Ok(moved.outcome)
    }
}

#[async_trait]
impl WalletStore for MemoryStore {
    async fn credit(
        &self,
        project: ProjectId,
        credit: Credit,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.step("WalletStore::credit", |state| {
            let known = state.amount(project, EntryKind::Credit, &credit.reference).is_some();
            state.apply(project, |wallet| wallet.credit(&credit, known, now))
        })
        .await?
    }

    async fn hold(
        &self,
        project: ProjectId,
        send: OtpId,
        amount: Paise,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<HoldOutcome, StoreError> {
        self.step("WalletStore::hold", |state| {
            let held = state.apply(project, |wallet| wallet.hold(send, amount, entry, now))?;
            if held == HoldOutcome::Held && amount > Paise::ZERO {
                state.holds.push(OpenHold { project, send, amount, since: now });
            }
            Ok(held)
        })
        .await?
    }

    async fn settle(
        &self,
        project: ProjectId,
        send: OtpId,
        settlement: Settlement,
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.step("WalletStore::settle", |state| {
            let mut holds = state.holds.iter();
            let place = holds.position(|hold| (hold.project, hold.send) == (project, send));
            let held = place.map(|place| state.holds.remove(place).amount);
            state.apply(project, |wallet| wallet.settle(send, held, settlement, entries, now))
        })
        .await?
    }

    async fn refund(
        &self,
        project: ProjectId,
        send: OtpId,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<Refunded, StoreError> {
        self.step("WalletStore::refund", |state| {
            let amount = |kind| state.amount(project, kind, &send.to_string());
            let captured = amount(EntryKind::Capture).map(|amount| Paise(-amount.0));
            let refunded = amount(EntryKind::Refund).is_some();
            state.apply(project, |wallet| wallet.refund(send, captured, refunded, entry, now))
        })
        .await?
    }

    async fn adjust(
        &self,
        project: ProjectId,
        adjustment: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError> {
        self.step("WalletStore::adjust", |state| {
            let (kind, reference) = (EntryKind::Adjustment, &adjustment.reference);
            let known = state.amount(project, kind, reference).is_some();
            state.apply(project, |wallet| wallet.adjust(&adjustment, known, now))
        })
        .await?
    }

    async fn balance(&self, project: ProjectId) -> Result<Balance, StoreError> {
        self.step("WalletStore::balance", |state| state.balance(project)).await
    }

    async fn statement(
        &self,
        project: ProjectId,
        limit: u32,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        self.step("WalletStore::statement", |state| {
            let own = state.ledger.iter().rev().filter(|(owner, _)| *owner == project);
            own.take(limit as usize).map(|(_, entry)| entry.clone()).collect()
        })
        .await
    }

    async fn stale_holds(
        &self,
        before: Timestamp,
        limit: u32,
    ) -> Result<Vec<OpenHold>, StoreError> {
        self.step("WalletStore::stale_holds", |state| {
            let mut stale = state.holds.clone();
            stale.retain(|hold| hold.since < before);
            stale.sort_by_key(|hold| (hold.since, hold.send));
            stale.truncate(limit as usize);
            stale
        })
        .await
    }

    async fn audit(&self) -> Result<Audit, StoreError> {
        self.step("WalletStore::audit", |state| {
            let projects: BTreeSet<_> = state.ledger.iter().map(|(owner, _)| *owner).collect();
            projects.into_iter().fold(Audit::default(), |audit, project| {
                let own = || state.ledger.iter().filter(|(owner, _)| *owner == project);
                let open = state.holds.iter().filter(|hold| hold.project == project);
                let entries = Balance {
                    balance: Paise(own().map(|(_, entry)| entry.amount.0).sum()),
                    held: Paise(own().map(|(_, entry)| entry.held.0).sum()),
                };
                let open = Paise(open.map(|hold| hold.amount.0).sum());
                audit.and(state.balance(project), entries, open)
            })
        })
        .await
    }
}
