use crate::{
    Adjusted, Adjustment, Amount, Balance, Credit, Credited, DaySpend, EntryKind, HoldOutcome,
    LedgerEntry, OpenHold, Reference, Refunded, Settlement,
};
use dwar_kernel::{
    EntryId, Event, EventKind, KeyMode, Paise, ProjectId, StoreError, Subject, Timestamp,
};

/// A project's wallet, as a store loads it before a step and saves it after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wallet {
    pub project: ProjectId,
    /// Zero before the first credit.
    pub balance: Balance,
    /// Threshold of the project: a balance that falls below it causes an event.
    pub low_balance: Option<Paise>,
    /// What was spent today.
    pub spend: DaySpend,
    /// Limit of the project: the most that its sends may spend on one day in Indian time.
    pub daily_spend: Option<Paise>,
}

/// Result of one step. A store saves all of it together with the wallet, or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Movement<T> {
    pub outcome: T,
    /// Entries to append to the ledger, in this order; if empty, the balance is unchanged.
    pub entries: Vec<LedgerEntry>,
    pub events: Vec<Event>,
}

/// A movement that would break `0 <= held <= balance`, or overflow an `i64`. The rules below refuse such
/// requests of callers, so this error means that the stored wallet is corrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a movement exceeds what a wallet can hold")]
pub struct ImpossibleBalance;

impl From<ImpossibleBalance> for StoreError {
    fn from(cause: ImpossibleBalance) -> Self {
        Self::Failed(Box::new(cause))
    }
}

/// The part of an entry that does not follow from the wallet.
struct Line {
    id: EntryId,
    kind: EntryKind,
    amount: i64,
    held: i64,
}

/// The rules. Each returns [`ImpossibleBalance`] rather than break the wallet.
impl Wallet {
    /// A wallet with this balance, without threshold, limit, or any spend today.
    pub const fn new(project: ProjectId, balance: Balance) -> Self {
        Self { project, balance, low_balance: None, spend: DaySpend::NONE, daily_spend: None }
    }

    /// Pays in an amount above zero. Nothing changes if the reference is `known` from an earlier credit, or
    /// the balance would exceed [`Amount::MOST`].
    pub fn credit(
        &mut self,
        credit: &Credit,
        known: bool,
        at: Timestamp,
    ) -> Result<Movement<Credited>, ImpossibleBalance> {
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

    /// Holds the amount of `hold` if balance minus open holds covers it and the limit of the day allows it.
    /// Zero is always covered and makes no hold; a negative amount is refused.
    pub fn hold(
        &mut self,
        hold: &OpenHold,
        entry: EntryId,
    ) -> Result<Movement<HoldOutcome>, ImpossibleBalance> {
        let OpenHold { project: _, send, relayed, amount, since } = *hold;
        if amount == Paise::ZERO {
            return Ok(Movement::nothing(HoldOutcome::Held));
        }
        if amount < Paise::ZERO || self.balance.available() < amount {
            return Ok(Movement::nothing(HoldOutcome::Insufficient));
        }
        let mut spend = self.spend.on(since);
        let fits = spend.add(amount, self.daily_spend);
        let events = self.reached(&mut spend, fits, (entry, since));
        if !fits {
            if !events.is_empty() {
                self.spend = spend;
            }
            let outcome = HoldOutcome::SpendLimited;
            return Ok(Movement { outcome, entries: Vec::new(), events });
        }
        let line = Line { id: entry, kind: EntryKind::Hold, amount: 0, held: amount.0 };
        let held = self.book(HoldOutcome::Held, [line], (&send.into(), relayed), since)?;
        self.spend = spend;
        Ok(Movement { events, ..held })
    }

    /// Ends a hold: captures the price, at most the held amount, and releases the rest, with an entry for
    /// each that is not zero. `false` if there is no hold.
    pub fn settle(
        &mut self,
        hold: Option<OpenHold>,
        settlement: Settlement,
        [capture, release]: [EntryId; 2],
        at: Timestamp,
    ) -> Result<Movement<bool>, ImpossibleBalance> {
        let Some(OpenHold { send, relayed, amount, since, .. }) = hold else {
            return Ok(Movement::nothing(false));
        };
        let spent = settlement.price().0.min(amount.0);
        let rest = amount.0 - spent;
        let ends = [
            Line { id: capture, kind: EntryKind::Capture, amount: -spent, held: -spent },
            Line { id: release, kind: EntryKind::Release, amount: 0, held: -rest },
        ];
        let ends = ends.into_iter().filter(|line| line.held != 0);
        let settled = self.book(true, ends, (&send.into(), relayed), at)?;
        self.spend.release(Paise(rest), since);
        Ok(settled)
    }

    /// Returns the captured money, unless the send was `refunded` before. The spend of the day stays.
    pub fn refund(
        &mut self,
        capture: Option<&LedgerEntry>,
        refunded: bool,
        entry: EntryId,
        at: Timestamp,
    ) -> Result<Movement<Refunded>, ImpossibleBalance> {
        // Checked first: the refund stays on record after the capture was closed with its month.
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

    /// Corrects the balance, downwards by at most balance minus open holds. Nothing changes if the reference
    /// is `known` from an earlier correction.
    pub fn adjust(
        &mut self,
        adjustment: &Adjustment,
        known: bool,
        at: Timestamp,
    ) -> Result<Movement<Adjusted>, ImpossibleBalance> {
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

    /// Whether the balance may grow by `amount`.
    fn has_room_for(&self, amount: Paise) -> bool {
        let balance = self.balance.balance.0.checked_add(amount.0);
        amount <= Paise::ZERO || balance.is_some_and(|balance| balance <= Amount::MOST.0)
    }

    /// Applies every line, and makes the event if the balance fell below the threshold.
    fn book<T>(
        &mut self,
        outcome: T,
        lines: impl IntoIterator<Item = Line>,
        (reference, relayed): (&Reference, bool),
        at: Timestamp,
    ) -> Result<Movement<T>, ImpossibleBalance> {
        let (before, mut entries) = (self.balance, Vec::new());
        let mut after = before;
        for Line { id, kind, amount, held } in lines {
            after = after.plus(amount, held).ok_or(ImpossibleBalance)?;
            let (amount, held) = (Paise(amount), Paise(held));
            let reference = reference.clone();
            entries.push(LedgerEntry { id, kind, amount, held, after, reference, relayed, at });
        }
        self.balance = after;
        let low = entries.first().and_then(|entry| self.low(before, entry.id, at));
        Ok(Movement { outcome, entries, events: low.into_iter().collect() })
    }

    /// An event for each step of the limit that the spend has reached, with a send that `fits` or is refused.
    fn reached(
        &self,
        spend: &mut DaySpend,
        fits: bool,
        (entry, at): (EntryId, Timestamp),
    ) -> Vec<Event> {
        let Some(limit) = self.daily_spend else { return Vec::new() };
        let steps = spend.tell(limit, !fits);
        let (project_mode, kind) = (self.project.in_mode(KeyMode::Live), EventKind::SpendReached);
        let event = |percent| {
            let subject = Subject::Spend { entry, percent, spent: spend.spent, limit };
            Event { project_mode, kind, subject, at }
        };
        steps.into_iter().map(event).collect()
    }

    /// The event of a balance that `entry` brought below the threshold; `None` if it was below before.
    fn low(&self, before: Balance, entry: EntryId, at: Timestamp) -> Option<Event> {
        let balance = self.balance.balance;
        let crossed = |low: &Paise| balance < *low && *low <= before.balance;
        let threshold = self.low_balance.filter(crossed)?;
        let subject = Subject::Wallet { entry, balance, threshold };
        let (project_mode, kind) = (self.project.in_mode(KeyMode::Live), EventKind::WalletLow);
        Some(Event { project_mode, kind, subject, at })
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
    /// The same movement without its outcome, for callers that ignore it.
    pub fn untold(self) -> Movement<()> {
        Movement { outcome: (), entries: self.entries, events: self.events }
    }

    const fn nothing(outcome: T) -> Self {
        Self { outcome, entries: Vec::new(), events: Vec::new() }
    }
}

#[cfg(test)]
#[path = "wallet_tests.rs"]
mod tests;
