use dwar_kernel::{AttemptId, EntryId, Event, PriceList, Timestamp};
use dwar_otp::{Charge, DeliveryStep, Otp, Reach, Report, Route};
use dwar_wallet::{Impossible, LedgerEntry, Movement, OpenHold, Settlement, Wallet};

/// A report on an attempt, and what it takes to draw the conclusions from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendReport {
    pub attempt: AttemptId,
    pub report: Report,
    pub route: Route,
    /// The id of the next attempt, if one is due.
    pub next: AttemptId,
    pub prices: PriceList,
    /// The ids of the entries that end the hold: of a capture or refund, and of a release.
    pub entries: [EntryId; 2],
}

/// What a report changed besides the request itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concluded {
    pub step: DeliveryStep,
    /// How the money ends with this report; `None` if it does not, or did before.
    pub ending: Option<Ending>,
    /// Whether the send gives its place back, since it is certain to have reached nobody.
    pub is_forgiven: bool,
    pub event: Option<Event>,
}

/// How the money of a send ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Settle(Settlement),
    /// It had ended with a charge, and nobody was reached after all.
    Refund,
}

impl SendReport {
    /// Applies the report to the request by [`Otp::report`], and says how the send ends if it does.
    ///
    /// Only a report that ends a send moves money: the first end settles, a later one at most gives back
    /// what was charged. Test keys have no money.
    pub fn apply(&self, otp: &mut Otp, now: Timestamp) -> Concluded {
        let before = otp.clone();
        let Self { attempt, report, route, next, .. } = self;
        let step = otp.report(*attempt, report.clone(), route, *next, now);
        let event = otp.reported_since(&before, now);
        let DeliveryStep::Settle(charge) = step else {
            return Concluded { step, ending: None, is_forgiven: false, event };
        };
        // The code is kept for as long as no report has ended the send. After that another provider may have
        // been tried, so what the delivery says now tells nothing about the money.
        let is_first_end = before.sealed_code.is_some();
        let ending = match charge {
            _ if otp.world.mode.is_test() => None,
            Charge::Channel(channel) if is_first_end => {
                Some(Ending::Settle(Settlement::Capture(self.prices.of(channel))))
            }
            Charge::Nothing if is_first_end => Some(Ending::Settle(Settlement::Release)),
            Charge::Nothing if before.delivery.charge() != Some(Charge::Nothing) => {
                Some(Ending::Refund)
            }
            Charge::Channel(_) | Charge::Nothing => None,
        };
        let is_forgiven = charge == Charge::Nothing && otp.delivery.reach() == Reach::Refused;
        Concluded { step, ending, is_forgiven, event }
    }
}

impl Ending {
    /// Moves the money of a send by the rule of [`Wallet`] for this ending, where `hold` is its open hold,
    /// `capture` what it was charged by and `refunded` whether that was given back.
    ///
    /// # Errors
    /// As the rules of [`Wallet`].
    pub fn book(
        self,
        wallet: &mut Wallet,
        (hold, capture, refunded): (Option<OpenHold>, Option<LedgerEntry>, bool),
        entries: [EntryId; 2],
        now: Timestamp,
    ) -> Result<Movement<()>, Impossible> {
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
