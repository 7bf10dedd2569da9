use crate::{
    Adjusted, Adjustment, Amount, Balance, Credit, Credited, EntryKind, HoldOutcome, LedgerEntry,
    OpenHold, Reference, Refunded, Settlement,
};
use dwar_kernel::{
    EntryId, Event, EventKind, KeyMode, Paise, ProjectId, StoreError, Subject, Timestamp,
};

/// What a project owns here, as a store loads it before a step and saves it after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wallet {
    pub project: ProjectId,
    /// What it owns; nothing before its first credit.
    pub balance: Balance,
    /// The project's threshold: a balance that falls below it is an event.
    pub low_balance: Option<Paise>,
}

/// What one step did. A store writes down all of it together with the wallet, or none of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement<T> {
    pub outcome: T,
    /// The entries to be added to the ledger, in this order; without any, the wallet is as before.
    pub entries: Vec<LedgerEntry>,
    /// The event to tell, if any.
    pub event: Option<Event>,
}

/// A movement whose wallet would break `0 <= held <= balance`, or not fit an `i64`. The rules below
/// refuse what a caller may ask for, so this is a stored wallet that cannot be right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a movement exceeds what a wallet can hold")]
pub struct Impossible;

impl From<Impossible> for StoreError {
    fn from(cause: Impossible) -> Self {
        Self::Failed(Box::new(cause))
    }
}

/// What an entry says besides what follows from the wallet.
struct Line {
    id: EntryId,
    kind: EntryKind,
    amount: i64,
    held: i64,
}

/// The rules; each gives [`Impossible`] rather than break the wallet.
impl Wallet {
    /// Pays in more than nothing, unless the reference is `known` from an earlier credit, or the
    /// balance would be too much.
    pub fn credit(
        &mut self,
        credit: &Credit,
        known: bool,
        at: Timestamp,
    ) -> Result<Movement<Credited>, Impossible> {
        let Credit { id, amount, reference } = credit;
        let amount = amount.paise();
        if known || amount == Paise::ZERO {
            return Ok(Movement::nothing(Credited::Known));
        }
        if !self.has_room_for(amount) {
            return Ok(Movement::nothing(Credited::TooMuch));
        }
        let line = Line { id: *id, kind: EntryKind::Credit, amount: amount.0, held: 0 };
        self.book(Credited::Booked, [line], (reference, false), at)
    }

    /// Sets the amount of `hold` aside if balance minus open holds covers it. What costs nothing is
    /// covered and holds nothing; less than nothing is refused.
    pub fn hold(
        &mut self,
        hold: &OpenHold,
        entry: EntryId,
    ) -> Result<Movement<HoldOutcome>, Impossible> {
        let OpenHold { project: _, send, relayed, amount, since } = *hold;
        if amount == Paise::ZERO {
            return Ok(Movement::nothing(HoldOutcome::Held));
        }
        if amount < Paise::ZERO || self.balance.available() < amount {
            return Ok(Movement::nothing(HoldOutcome::Insufficient));
        }
        let line = Line { id: entry, kind: EntryKind::Hold, amount: 0, held: amount.0 };
        self.book(HoldOutcome::Held, [line], (&send.into(), relayed), since)
    }

    /// Ends a hold: spends the price, at most what is held, and gives the rest back, with an entry
    /// for each that is not zero. `false` if there is no hold.
    pub fn settle(
        &mut self,
        hold: Option<OpenHold>,
        settlement: Settlement,
        [capture, release]: [EntryId; 2],
        at: Timestamp,
    ) -> Result<Movement<bool>, Impossible> {
        let Some(OpenHold { send, relayed, amount, .. }) = hold else {
            return Ok(Movement::nothing(false));
        };
        let spent = settlement.price().0.min(amount.0);
        let rest = amount.0 - spent;
        let ends = [
            Line { id: capture, kind: EntryKind::Capture, amount: -spent, held: -spent },
            Line { id: release, kind: EntryKind::Release, amount: 0, held: -rest },
        ];
        let ends = ends.into_iter().filter(|line| line.held != 0);
        self.book(true, ends, (&send.into(), relayed), at)
    }

    /// Gives back what a capture spent, unless it was `refunded` before.
    pub fn refund(
        &mut self,
        capture: Option<&LedgerEntry>,
        refunded: bool,
        entry: EntryId,
        at: Timestamp,
    ) -> Result<Movement<Refunded>, Impossible> {
        // First: a refund outlives the capture, which leaves with its month.
        if refunded {
            return Ok(Movement::nothing(Refunded::Already));
        }
        let Some(LedgerEntry { amount, reference, relayed, .. }) = capture else {
            return Ok(Movement::nothing(Refunded::NothingCaptured));
        };
        let captured = Paise(-amount.0);
        if !self.has_room_for(captured) {
            return Ok(Movement::nothing(Refunded::TooMuch));
        }
        let line = Line { id: entry, kind: EntryKind::Refund, amount: captured.0, held: 0 };
        self.book(Refunded::Refunded(captured), [line], (reference, *relayed), at)
    }

    /// Corrects the balance, downwards by at most balance minus open holds, unless the reference is
    /// `known` from an earlier correction.
    pub fn adjust(
        &mut self,
        adjustment: &Adjustment,
        known: bool,
        at: Timestamp,
    ) -> Result<Movement<Adjusted>, Impossible> {
        let Adjustment { id, amount, reference } = adjustment;
        let amount = amount.paise();
        if known {
            return Ok(Movement::nothing(Adjusted::Known));
        }
        if self.balance.available().0.checked_add(amount.0).is_some_and(|left| left < 0) {
            return Ok(Movement::nothing(Adjusted::Insufficient));
        }
        if !self.has_room_for(amount) {
            return Ok(Movement::nothing(Adjusted::TooMuch));
        }
        let line = Line { id: *id, kind: EntryKind::Adjustment, amount: amount.0, held: 0 };
        self.book(Adjusted::Booked, [line], (reference, false), at)
    }

    /// Whether the balance may grow by that much.
    fn has_room_for(&self, amount: Paise) -> bool {
        let balance = self.balance.balance.0.checked_add(amount.0);
        amount <= Paise::ZERO || balance.is_some_and(|balance| balance <= Amount::MOST.0)
    }

    /// Applies every line, and tells if that took the balance below the threshold.
    fn book<T>(
        &mut self,
        outcome: T,
        lines: impl IntoIterator<Item = Line>,
        (reference, relayed): (&Reference, bool),
        at: Timestamp,
    ) -> Result<Movement<T>, Impossible> {
        let (before, mut entries) = (self.balance, Vec::new());
        let mut after = before;
        for Line { id, kind, amount, held } in lines {
            after = after.plus(amount, held).ok_or(Impossible)?;
            let (amount, held) = (Paise(amount), Paise(held));
            let reference = reference.clone();
            entries.push(LedgerEntry { id, kind, amount, held, after, reference, relayed, at });
        }
        self.balance = after;
        let event = entries.first().and_then(|entry| self.low(before, entry.id, at));
        Ok(Movement { outcome, entries, event })
    }

    /// The event of a balance that `entry` brought below the threshold; none if it was there before.
    fn low(&self, before: Balance, entry: EntryId, at: Timestamp) -> Option<Event> {
        let balance = self.balance.balance;
        let crossed = |low: &Paise| balance < *low && *low <= before.balance;
        let threshold = self.low_balance.filter(crossed)?;
        let subject = Subject::Wallet { entry, balance, threshold };
        let (world, kind) = (self.project.in_mode(KeyMode::Live), EventKind::WalletLow);
        Some(Event { world, kind, subject, at })
    }
}

impl Balance {
    fn plus(self, amount: i64, held: i64) -> Option<Self> {
        let balance = self.balance.0.checked_add(amount)?;
        let held = self.held.0.checked_add(held)?;
        let sound = (0..=balance).contains(&held);
        sound.then_some(Self { balance: Paise(balance), held: Paise(held) })
    }
}

impl<T> Movement<T> {
    /// The same movement, with nothing to tell the caller.
    pub fn untold(self) -> Movement<()> {
        Movement { outcome: (), entries: self.entries, event: self.event }
    }

    const fn nothing(outcome: T) -> Self {
        Self { outcome, entries: Vec::new(), event: None }
    }
}

#[cfg(test)]
#[path = "wallet_tests.rs"]
mod tests;
