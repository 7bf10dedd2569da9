use crate::wallets::{INSUFFICIENT, MONTH_CLOSED, NOTHING_CAPTURED, TOO_MUCH, above_zero};
use crate::{ManageError, ManageWallets};
use dwar_kernel::{EntryId, OtpId, ProjectId, StoreError, TRACE, Timestamp};
use dwar_operator::{Command, Requester};
use dwar_wallet::{
    Adjusted, Adjustment, Amount, Balance, Correction, Credit, Credited, EntryKind, LedgerEntry,
    Paise, Reference, Refunded, StatementFilter, Wallet,
};
use tracing::instrument;

/// A send has at most a hold, a capture, a release and a refund; a credit and a correction may have its id as
/// reference.
const ENTRIES_OF_A_SEND: u32 = 6;

/// A movement of money that an operator books by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Booking {
    Credit {
        amount: Amount,
        /// Reference of the payment; each is booked once.
        reference: Reference,
    },
    Refund {
        send: OtpId,
    },
    Adjustment {
        amount: Correction,
        /// Reason of the correction; each is booked once.
        reference: Reference,
    },
}

/// Result of a booking if it were made now; a send may change the wallet before that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preview {
    pub amount: Paise,
    pub before: Balance,
    pub after: Balance,
}

impl Booking {
    /// The command that the caller needs the right to.
    pub const fn command(&self) -> Command {
        match self {
            Self::Credit { .. } => Command::CreditWallet,
            Self::Refund { .. } => Command::RefundSend,
            Self::Adjustment { .. } => Command::AdjustWallet,
        }
    }
}

impl ManageWallets {
    /// Makes a booking; `false`, with nothing changed, if it was made before.
    #[instrument(name = "booking.book", target = TRACE, level = "error", skip_all)]
    pub async fn book(
        &self,
        by: &Requester,
        project: ProjectId,
        booking: Booking,
    ) -> Result<bool, ManageError> {
        match booking {
            Booking::Credit { amount, reference } => {
                self.credit(by, project, amount, Some(reference)).await
            }
            Booking::Refund { send } => Ok(self.refund(by, project, send).await?.is_some()),
            Booking::Adjustment { amount, reference } => {
                self.adjust(by, project, amount, reference).await
            }
        }
    }

    /// Computes the result of a booking by the rules of [`Wallet`], without changing anything. `None` if it
    /// was made before.
    ///
    /// # Errors
    /// Those of the booking.
    #[instrument(name = "booking.preview", target = TRACE, level = "error", skip_all)]
    pub async fn preview(
        &self,
        by: &Requester,
        project: ProjectId,
        booking: &Booking,
    ) -> Result<Option<Preview>, ManageError> {
        self.control.project(by, booking.command(), project).await?;
        let before = self.wallets.balance(project).await?;
        let mut wallet = Wallet::new(project, before);
        let now = self.control.tools.now();
        let id = EntryId::new(now, self.control.tools.entropy.as_ref());
        let amount = match booking {
            Booking::Credit { amount, reference } => {
                above_zero(*amount)?;
                let known = self.is_booked(project, EntryKind::Credit, reference).await?;
                let credit = Credit { id, amount: *amount, reference: reference.clone() };
                match wallet.credit(&credit, known, now).map_err(StoreError::from)?.outcome {
                    Credited::Booked => Some(amount.paise()),
                    Credited::Known => None,
                    Credited::TooMuch => return Err(TOO_MUCH),
                }
            }
            Booking::Refund { send } => {
                let entries =
                    self.entries(project, None, (*send).into(), ENTRIES_OF_A_SEND).await?;
                let of = |kind| entries.iter().find(move |entry| entry.kind == kind);
                let refunded = of(EntryKind::Refund).is_some();
                let refund = wallet.refund(of(EntryKind::Capture), refunded, id, now);
                let outcome = refund.map_err(StoreError::from)?.outcome;
                match outcome.or_closed(*send, self.closed_until(project).await?) {
                    Refunded::Refunded(amount) => Some(amount),
                    Refunded::Already => None,
                    Refunded::NothingCaptured => return Err(NOTHING_CAPTURED),
                    Refunded::Closed => return Err(MONTH_CLOSED),
                    Refunded::TooMuch => return Err(TOO_MUCH),
                }
            }
            Booking::Adjustment { amount, reference } => {
                let known = self.is_booked(project, EntryKind::Adjustment, reference).await?;
                let adjustment = Adjustment { id, amount: *amount, reference: reference.clone() };
                match wallet.adjust(&adjustment, known, now).map_err(StoreError::from)?.outcome {
                    Adjusted::Booked => Some(amount.paise()),
                    Adjusted::Known => None,
                    Adjusted::Insufficient => return Err(INSUFFICIENT),
                    Adjusted::TooMuch => return Err(TOO_MUCH),
                }
            }
        };
        Ok(amount.map(|amount| Preview { amount, before, after: wallet.balance }))
    }

    /// The end of the newest closed month of the ledger.
    async fn closed_until(&self, project: ProjectId) -> Result<Option<Timestamp>, StoreError> {
        let closed =
            StatementFilter { kind: Some(EntryKind::Closed), ..StatementFilter::default() };
        let newest = self.ledger.lines(project, closed, None, 1).await?;
        let closing = newest.first().and_then(|line| line.closing);
        Ok(closing.map(|closing| closing.month.until()))
    }

    async fn is_booked(
        &self,
        project: ProjectId,
        kind: EntryKind,
        reference: &Reference,
    ) -> Result<bool, StoreError> {
        Ok(!self.entries(project, Some(kind), reference.clone(), 1).await?.is_empty())
    }

    async fn entries(
        &self,
        project: ProjectId,
        kind: Option<EntryKind>,
        reference: Reference,
        limit: u32,
    ) -> Result<Vec<LedgerEntry>, StoreError> {
        let filter =
            StatementFilter { kind, reference: Some(reference), ..StatementFilter::default() };
        let lines = self.ledger.lines(project, filter, None, limit).await?;
        Ok(lines.into_iter().map(|line| line.entry).collect())
    }
}
