use dwar_kernel::{AttemptId, EntryId, Event, PriceList, Timestamp};
use dwar_otp::{Charge, DeliveryStep, FailureReach, Otp, Report, Route};
use dwar_wallet::{ImpossibleBalance, LedgerEntry, Movement, OpenHold, Settlement, Wallet};

/// A report on an attempt, with all values that are needed to apply it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendReport {
    pub attempt: AttemptId,
    pub report: Report,
    pub route: Route,
    /// Id of the next attempt, if one is due.
    pub next: AttemptId,
    pub prices: PriceList,
    /// Ids of the ledger entries that end the hold: first of the capture or refund, then of the release.
    pub entries: [EntryId; 2],
}

/// Effects of a report besides those on the request itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportOutcome {
    pub step: DeliveryStep,
    /// What this report does to the hold or the charge of the send; `None` if it changes neither.
    pub ending: Option<MoneyOutcome>,
    /// Whether the send returns its place, because it certainly reached no phone.
    pub is_forgiven: bool,
    pub event: Option<Event>,
}

/// What a report does to the money of a send: its hold is settled, or its charge is refunded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoneyOutcome {
    Settle(Settlement),
    /// The send was charged, and now it turns out that no message was sent.
    Refund,
}

impl SendReport {
    /// Applies the report to the request by [`Otp::report`], and returns what happens to the hold or the charge.
    ///
    /// Only a report that ends a send moves money: the first end settles the hold, a later one at most
    /// refunds the charge. Test keys have no money.
    pub fn apply(&self, otp: &mut Otp, now: Timestamp) -> ReportOutcome {
        let before = otp.clone();
        let Self { attempt, report, route, next, .. } = self;
        let step = otp.report(*attempt, report.clone(), route, *next, now);
        let event = otp.reported_since(&before, now);
        let DeliveryStep::Settle(charge) = step else {
            return ReportOutcome { step, ending: None, is_forgiven: false, event };
        };
        // The sealed code is kept until a report ends the send. After that another provider may
        // have been tried, so the current delivery status says nothing about the money.
        let is_first_end = before.sealed_code.is_some();
        let ending = match charge {
            _ if otp.project_mode.mode.is_test() => None,
            Charge::Channel(channel) if is_first_end => {
                Some(MoneyOutcome::Settle(Settlement::Capture(self.prices.of(channel))))
            }
            Charge::Nothing if is_first_end => Some(MoneyOutcome::Settle(Settlement::Release)),
            Charge::Nothing if before.delivery.charge() != Some(Charge::Nothing) => {
                Some(MoneyOutcome::Refund)
            }
            Charge::Channel(_) | Charge::Nothing => None,
        };
        let is_forgiven =
            charge == Charge::Nothing && otp.delivery.reach() == FailureReach::Refused;
        ReportOutcome { step, ending, is_forgiven, event }
    }
}

impl MoneyOutcome {
    /// Applies the [`Wallet`] rule of this ending: `hold` is the open hold of the send, `capture` its charge,
    /// and `refunded` tells whether the charge was returned.
    ///
    /// # Errors
    /// Those of the rules of [`Wallet`].
    pub fn book(
        self,
        wallet: &mut Wallet,
        (hold, capture, refunded): (Option<OpenHold>, Option<LedgerEntry>, bool),
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Result<Movement<()>, ImpossibleBalance> {
        match self {
            Self::Settle(settlement) => {
                wallet.settle(hold, settlement, entries, now).map(Movement::untold)
            }
            Self::Refund => {
                let refund = wallet.refund(capture.as_ref(), refunded, entries[0], now);
                refund.map(Movement::untold)
            }
        }
    }
}
