use crate::{Amount, InvalidAmount, Paise, Reference};
use dwar_kernel::{EntryId, OtpId, ProjectId, Timestamp, words};

words! {
    /// The kind of movement that a ledger entry records.
    EntryKind {
        Credit = "credit",
        /// Money reserved for a send that is under way.
        Hold = "hold",
        /// Reserved money charged for a send that a provider accepted.
        Capture = "capture",
        Release = "release",
        Refund = "refund",
        /// A correction by the operator, up or down.
        Adjustment = "adjustment",
        /// The holds, captures and releases of a closed month.
        Closed = "closed",
    }
}

impl EntryKind {
    /// Whether entries of this kind belong to one send, from its hold to the end of the hold.
    pub const fn follows_a_send(self) -> bool {
        matches!(self, Self::Hold | Self::Capture | Self::Release)
    }
}

/// Balance and held part of a wallet at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    pub balance: Paise,
    pub held: Paise,
}

impl Balance {
    /// What a new send may spend: balance minus open holds.
    pub const fn available(self) -> Paise {
        Paise(self.balance.0 - self.held.0)
    }

    /// How full the balance is: `price` is what one send holds, `low` the project's threshold.
    pub fn level(self, price: Paise, low: Option<Paise>) -> BalanceLevel {
        if self.available() < price {
            BalanceLevel::Empty
        } else if low.is_some_and(|low| self.balance < low) {
            BalanceLevel::Low
        } else {
            BalanceLevel::Enough
        }
    }

    /// Whole days until nothing is available, if spending continues like `spent` in the last `days` days;
    /// `None` if nothing was spent.
    pub fn days_left(self, spent: Paise, days: u32) -> Option<u64> {
        let (spent, available) = (u64::try_from(spent.0).ok()?, self.available().0.max(0));
        u64::try_from(available).ok()?.saturating_mul(days.into()).checked_div(spent)
    }
}

/// How full a balance is, compared with a send and with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceLevel {
    /// The available money does not cover one send.
    Empty,
    Low,
    Enough,
}

/// One movement. Entries are only added, and removed only when their month is closed
/// ([`Closing`](crate::Closing)).
///
/// The sum of all `amount`s of a project is its balance, the sum of all `held` its open holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub id: EntryId,
    pub kind: EntryKind,
    /// Change of the balance; negative for a capture, zero for a hold or release.
    pub amount: Paise,
    pub held: Paise,
    pub after: Balance,
    /// The id of an OTP request, the reference given with a credit, or a closed month.
    pub reference: Reference,
    /// Whether the request delivers a relayed code; `false` without a request.
    pub relayed: bool,
    pub at: Timestamp,
}

/// A payment into a wallet, booked once per reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credit {
    pub id: EntryId,
    pub amount: Amount,
    /// Unique per project: a credit with a known reference changes nothing.
    pub reference: Reference,
}

/// Result of a credit: whether it was booked, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credited {
    Booked,
    /// The reference was booked before, or the amount is zero; nothing changed.
    Known,
    /// The balance would exceed [`Amount::MOST`]; nothing changed.
    TooMuch,
}

/// Amount of a correction: positive or negative, not zero, at most [`Amount::MOST`] either way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correction(Paise);

/// Why an amount of a correction is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCorrection {
    #[error("-1000000000000 to 1000000000000 paise, not zero")]
    Bounds,
    #[error(transparent)]
    Amount(#[from] InvalidAmount),
}

impl Correction {
    /// The amount in paise, negative if money is taken away.
    pub const fn paise(self) -> Paise {
        self.0
    }

    /// Parses rupees like [`Amount::from_rupees`]; a leading `-` takes money away.
    ///
    /// # Errors
    /// [`InvalidCorrection`] for text that cannot be parsed, zero, and amounts beyond the bound.
    pub fn from_rupees(text: &str) -> Result<Self, InvalidCorrection> {
        let (sign, amount) = text.strip_prefix('-').map_or((1, text), |amount| (-1, amount));
        (sign * Amount::from_rupees(amount)?.paise().0).try_into()
    }
}

impl TryFrom<i64> for Correction {
    type Error = InvalidCorrection;

    fn try_from(paise: i64) -> Result<Self, InvalidCorrection> {
        let fits = paise != 0 && (-Amount::MOST.0..=Amount::MOST.0).contains(&paise);
        if fits { Ok(Self(Paise(paise))) } else { Err(InvalidCorrection::Bounds) }
    }
}

/// A correction of a balance by an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjustment {
    pub id: EntryId,
    /// A negative amount takes money away.
    pub amount: Correction,
    /// Unique per project: an adjustment with a known reference changes nothing.
    pub reference: Reference,
}

/// Result of an adjustment: whether it was booked, and why not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjusted {
    Booked,
    /// The reference was booked before; nothing changed.
    Known,
    /// It would take more than balance minus open holds; nothing changed.
    Insufficient,
    /// The balance would exceed [`Amount::MOST`]; nothing changed.
    TooMuch,
}

/// Result of a refund: the amount, or why nothing was returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refunded {
    Refunded(Paise),
    /// The send was refunded before; nothing changed.
    Already,
    /// No capture is on record for this send; nothing changed.
    NothingCaptured,
    /// No entry is on record for this send, and its month is closed; nothing changed.
    Closed,
    /// The balance would exceed [`Amount::MOST`]; nothing changed.
    TooMuch,
}

/// Result of a hold: whether the money is set aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldOutcome {
    Held,
    /// Balance minus open holds is below the amount; nothing changed.
    Insufficient,
    /// The amount would exceed the project's limit of the day; at most it is now told that it is used up.
    SpendLimited,
}

/// How a hold ends. A hold ends once; settling it again changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// Spend this much (at most the held amount) and release the rest.
    Capture(Paise),
    Release,
}

impl Settlement {
    /// The price that is captured, never negative; zero for a release.
    pub fn price(self) -> Paise {
        match self {
            Self::Capture(price) => price.max(Paise::ZERO),
            Self::Release => Paise::ZERO,
        }
    }
}

/// A hold that was neither captured nor released yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenHold {
    pub project: ProjectId,
    pub send: OtpId,
    pub relayed: bool,
    pub amount: Paise,
    pub since: Timestamp,
}

/// Result of recomputing every wallet from its entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerAudit {
    pub projects: u64,
    /// Sum over all wallets of the difference between the stored values and those computed from entries and
    /// open holds; anything but zero is a defect.
    pub difference: Paise,
}

impl LedgerAudit {
    /// Adds one more wallet: the stored balance, the sum of its entries, and the sum of its open holds.
    #[must_use]
    pub fn and(self, stored: Balance, entries: Balance, open: Paise) -> Self {
        let told = [entries.balance, entries.held, open];
        let difference = [stored.balance, stored.held, stored.held]
            .into_iter()
            .zip(told)
            .map(|(stored, told)| stored.0.saturating_sub(told.0).saturating_abs())
            .fold(self.difference.0, i64::saturating_add);
        Self { projects: self.projects + 1, difference: Paise(difference) }
    }
}
