use crate::store::{MemoryStore, State};
use async_trait::async_trait;
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{EntryId, KeyMode, OtpId, ProjectId, StoreError, Timestamp};
use dwar_wallet::{
    Adjusted, Adjustment, Audit, Balance, Credit, EntryKind, HoldOutcome, LedgerEntry, OpenHold,
    Paise, Refunded, Settlement, WalletStore,
};
use std::collections::BTreeSet;

impl State {
    fn balance(&self, project: ProjectId) -> Balance {
        let newest = self.ledger.iter().rev().find(|(owner, _)| *owner == project);
        newest.map(|(_, entry)| entry.after).unwrap_or_default()
    }

    fn record_if_low(
        &mut self,
        project: ProjectId,
        entry: EntryId,
        (before, balance): (i64, i64),
        at: Timestamp,
    ) {
        let found = self.projects.iter().find(|(found, _)| found.id == project);
        let threshold = found.and_then(|(found, _)| found.low_balance);
        if let Some(threshold) = threshold.filter(|low| balance < *low && before >= *low) {
            let subject =
                Subject::Wallet { entry, balance: Paise(balance), threshold: Paise(threshold) };
            let (mode, kind) = (KeyMode::Live, EventKind::WalletLow);
            self.record(&Event { project, mode, kind, subject, at });
        }
    }

    /// The entry of this kind and reference.
    fn entry(&self, project: ProjectId, kind: EntryKind, reference: &str) -> Option<&LedgerEntry> {
        let mut own = self.ledger.iter().filter(|(owner, _)| *owner == project);
        let found = own.find(|(_, entry)| entry.kind == kind && entry.reference == reference);
        found.map(|(_, entry)| entry)
    }

    fn book(
        &mut self,
        project: ProjectId,
        (id, kind): (EntryId, EntryKind),
        (amount, held): (i64, i64),
        reference: String,
        at: Timestamp,
    ) {
        let before = self.balance(project);
        let after = Balance {
            balance: Paise(before.balance.0 + amount),
            held: Paise(before.held.0 + held),
        };
        if matches!(kind, EntryKind::Capture | EntryKind::Adjustment) {
            self.record_if_low(project, id, (before.balance.0, after.balance.0), at);
        }
        let (amount, held) = (Paise(amount), Paise(held));
        self.ledger.push((project, LedgerEntry { id, kind, amount, held, after, reference, at }));
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
            let known = state.entry(project, EntryKind::Credit, &credit.reference).is_some();
            if !known {
                let entry = (credit.id, EntryKind::Credit);
                state.book(project, entry, (credit.amount.0, 0), credit.reference, now);
            }
            !known
        })
        .await
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
            if state.balance(project).available() < amount {
                return HoldOutcome::Insufficient;
            }
            state.book(project, (entry, EntryKind::Hold), (0, amount.0), send.to_string(), now);
            state.holds.push(OpenHold { project, send, amount, since: now });
            HoldOutcome::Held
        })
        .await
    }

    async fn settle(
        &self,
        project: ProjectId,
        send: OtpId,
        settlement: Settlement,
        [capture, release]: [EntryId; 2],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.step("WalletStore::settle", |state| {
            let mut holds = state.holds.iter();
            let Some(place) = holds.position(|hold| (hold.project, hold.send) == (project, send))
            else {
                return false;
            };
            let held = state.holds.remove(place).amount.0;
            let spent = match settlement {
                Settlement::Capture(amount) => amount.0.min(held),
                Settlement::Release => 0,
            };
            let rest = held - spent;
            if spent > 0 {
                let entry = (capture, EntryKind::Capture);
                state.book(project, entry, (-spent, -spent), send.to_string(), now);
            }
            if rest > 0 {
                let entry = (release, EntryKind::Release);
                state.book(project, entry, (0, -rest), send.to_string(), now);
            }
            true
        })
        .await
    }

    async fn refund(
        &self,
        project: ProjectId,
        send: OtpId,
        entry: EntryId,
        now: Timestamp,
    ) -> Result<Refunded, StoreError> {
        self.step("WalletStore::refund", |state| {
            let reference = send.to_string();
            let Some(capture) = state.entry(project, EntryKind::Capture, &reference) else {
                return Refunded::NothingCaptured;
            };
            let amount = -capture.amount.0;
            if state.entry(project, EntryKind::Refund, &reference).is_some() {
                return Refunded::Already;
            }
            state.book(project, (entry, EntryKind::Refund), (amount, 0), reference, now);
            Refunded::Refunded(Paise(amount))
        })
        .await
    }

    async fn adjust(
        &self,
        project: ProjectId,
        Adjustment { id, amount, reference }: Adjustment,
        now: Timestamp,
    ) -> Result<Adjusted, StoreError> {
        self.step("WalletStore::adjust", |state| {
            if state.entry(project, EntryKind::Adjustment, &reference).is_some() {
                return Adjusted::Known;
            }
            if state.balance(project).available().0 + amount.0 < 0 {
                return Adjusted::Insufficient;
            }
            state.book(project, (id, EntryKind::Adjustment), (amount.0, 0), reference, now);
            Adjusted::Booked
        })
        .await
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
            stale.sort_by_key(|hold| hold.since);
            stale.truncate(limit as usize);
            stale
        })
        .await
    }

    async fn audit(&self) -> Result<Audit, StoreError> {
        self.step("WalletStore::audit", |state| {
            let projects: BTreeSet<_> = state.ledger.iter().map(|(owner, _)| *owner).collect();
            let off = |project: &ProjectId| {
                let own = || state.ledger.iter().filter(|(owner, _)| owner == project);
                let open = state.holds.iter().filter(|hold| hold.project == *project);
                let stored = state.balance(*project);
                let amounts: i64 = own().map(|(_, entry)| entry.amount.0).sum();
                let held: i64 = own().map(|(_, entry)| entry.held.0).sum();
                let open: i64 = open.map(|hold| hold.amount.0).sum();
                (stored.balance.0 - amounts).abs()
                    + (stored.held.0 - held).abs()
                    + (stored.held.0 - open).abs()
            };
            let difference = Paise(projects.iter().map(off).sum());
            Audit { projects: projects.len() as u64, difference }
        })
        .await
    }
}
