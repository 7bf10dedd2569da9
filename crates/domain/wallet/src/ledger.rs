use crate::{Amount, InvalidAmount, Paise, Reference};
use dwar_kernel::{EntryId, OtpId, ProjectId, Timestamp, words};

words! {
    /// The kind of movement that a ledger entry records.
    EntryKind {
        Credit = "credit",
        /// Money set aside for a send that is under way.
        Hold = "hold",
        /// Held money spent on a send that a provider accepted.
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
    /// Whether entries of this kind follow one send from its reservation to its end.
    pub const fn follows_a_send(self) -> bool {
        matches!(self, Self::Hold | Self::Capture | Self::Release)
    }
}

/// A wallet at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Balance {
    pub balance: Paise,
    pub held: Paise,
}

impl Balance {
    /// What a new send may use.
    pub const fn available(self) -> Paise {
        Paise(self.balance.0 - self.held.0)
    }

    /// How much of it there is, where a send sets `price` aside and `low` is the project's threshold.
    pub fn level(self, price: Paise, low: Option<Paise>) -> BalanceLevel {
        if self.available() < price {
            BalanceLevel::Empty
        } else if low.is_some_and(|low| self.balance < low) {
            BalanceLevel::Low
        } else {
            BalanceLevel::Enough
        }
    }

    /// Whole days until nothing is available, if `spent` in that many days is what comes; `None` if nothing was
    /// spent.
    pub fn days_left(self, spent: Paise, days: u32) -> Option<u64> {
        let (spent, available) = (u64::try_from(spent.0).ok()?, self.available().0.max(0));
        u64::try_from(available).ok()?.saturating_mul(days.into()).checked_div(spent)
    }
}

/// How much of a balance there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BalanceLevel {
    /// What is available does not cover one send.
    Empty,
    Low,
    Enough,
}

/// One movement; entries are only ever added, and leave only when their month is closed
/// ([`Closing`](crate::Closing)).
///
/// The sum of all `amount`s of a project is its balance, the sum of all `held` its open holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub id: EntryId,
    pub kind: EntryKind,
    /// What it adds to the balance; negative for a capture, zero for a hold or release.
    pub amount: Paise,
    pub held: Paise,
    /// The wallet right after it.
    pub after: Balance,
    /// What it is for: the OTP request's id, the reference given with a credit, or the month that was closed.
    pub reference: Reference,
    /// Whether that request delivers a code of somebody else; without a request, `false`.
    pub relayed: bool,
    pub at: Timestamp,
}

/// Money to be paid in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credit {
    pub id: EntryId,
    pub amount: Amount,
    /// Unique per project: a credit with a known reference changes nothing.
    pub reference: Reference,
}

/// The answer to a credit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credited {
    Booked,
    /// Its reference was booked before, or it is nothing; nothing changed.
    Known,
    /// The balance would be more than [`Amount::MOST`]; nothing changed.
    TooMuch,
}

/// What a balance is corrected by: up or down, not nothing, at most [`Amount::MOST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Correction(Paise);

/// A balance cannot be corrected by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidCorrection {
    #[error("-1000000000000 to 1000000000000 paise, not zero")]
    Bounds,
    #[error(transparent)]
    Amount(#[from] InvalidAmount),
}

impl Correction {
    /// In paise.
    pub const fn paise(self) -> Paise {
        self.0
    }

    /// Reads rupees as [`Amount::from_rupees`] does, with a `-` before what is taken away.
    ///
    /// # Errors
    /// [`InvalidCorrection`] for what cannot be read, nothing, and too much.
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

/// A correction of a balance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adjustment {
    pub id: EntryId,
    /// What is added; less than zero takes away.
    pub amount: Correction,
    /// Unique per project: an adjustment with a known reference changes nothing.
    pub reference: Reference,
}

/// The answer to an adjustment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Adjusted {
    Booked,
    /// Its reference was booked before; nothing changed.
    Known,
    /// It would take more than balance minus open holds; nothing changed.
    Insufficient,
    /// The balance would be more than [`Amount::MOST`]; nothing changed.
    TooMuch,
}

/// The answer to a refund.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refunded {
    Refunded(Paise),
    /// It had come back before; nothing changed.
    Already,
    /// Nothing was captured for this send; nothing changed.
    NothingCaptured,
    /// Nothing is on record of this send, and its month is closed; nothing changed.
    Closed,
    /// The balance would be more than [`Amount::MOST`]; nothing changed.
    TooMuch,
}

/// The answer to a hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HoldOutcome {
    Held,
    /// Balance minus open holds is under the amount; nothing changed.
    Insufficient,
}

/// How a hold ends. It ends once; a second ending changes nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// Spend this much (at most what is held) and give the rest back.
    Capture(Paise),
    Release,
}

impl Settlement {
    /// What it spends where that much is held; never less than zero.
    pub fn price(self) -> Paise {
        match self {
            Self::Capture(price) => price.max(Paise::ZERO),
            Self::Release => Paise::ZERO,
        }
    }
}

/// A hold that has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenHold {
    pub project: ProjectId,
    pub send: OtpId,
    /// Whether the request delivers a code of somebody else.
    pub relayed: bool,
    pub amount: Paise,
    pub since: Timestamp,
}

/// What recomputing every wallet from its entries shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    pub projects: u64,
    /// Sum over all wallets of the distance between what is stored and what the entries and open
    /// holds say; anything but zero is a defect.
    pub difference: Paise,
}

impl Audit {
    /// Counts one more wallet: as it is stored, the sum of its entries, the sum of its open holds.
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
