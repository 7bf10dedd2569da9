use crate::codes::{ACCEPTED, Codes, Providers};
use crate::page::Page;
use crate::requests::{Api, Requests};
use crate::table::{Table, TimeTable, words};
use crate::times::CALLS;
use dwar_app::{AnsweredRequest, GuessEnd, Observer, ReceiptEnd, SendEnd, SendKind};
use dwar_event::SendFailure;
use dwar_kernel::{Channel, GuardVerdict, KeyMode};
use dwar_otp::{DeliveryAttempt, Report};
use dwar_ratelimit::RequestScope;
use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const SCOPES: [&str; 4] = ["send", "verify", "validate", "general"];
const ADMITTED: &str = "admitted";
const REFUSED: &str = "refused";
/// The label of an event that was accepted.
const DELIVERED: &str = "delivered";
/// The labels of failures; the number stands for any other status.
const FAILURES: [SendFailure; 8] = [
    SendFailure::AddressNotAllowed,
    SendFailure::TimedOut,
    SendFailure::Unresolved,
    SendFailure::ConnectionRefused,
    SendFailure::Tls,
    SendFailure::Unreachable,
    SendFailure::Status(500),
    SendFailure::Unsigned,
];

/// Counts events of the service, without locks and without allocations.
#[derive(Debug)]
pub struct Counts {
    requests: Requests,
    codes: Codes,
    limited: Table<2>,
    events: Table<1>,
    event_calls: TimeTable<0>,
    /// Calls in progress, and deliveries that wait for a place.
    calling: [AtomicU32; 2],
}

impl Counts {
    /// Makes counts that are all 0, with these labels.
    pub fn new(api: Api, providers: Providers) -> Self {
        let told = [DELIVERED].into_iter().chain(FAILURES.map(|failure| failure.word().0));
        Self {
            requests: Requests::new(api),
            codes: Codes::new(providers),
            limited: Table::new([
                ("scope", words(SCOPES)),
                ("outcome", words([ADMITTED, REFUSED])),
            ]),
            events: Table::new([("outcome", words(told))]),
            event_calls: TimeTable::new(CALLS, []),
            calling: Default::default(),
        }
    }

    pub(crate) fn show(&self, page: &mut Page<'_>) -> fmt::Result {
        self.requests.show(page)?;
        self.codes.show(page)?;
        let help = "Requests that were measured against a window of their key.";
        page.counters("dwar_limiter_requests", help, self.limited.series())?;
        page.counters("dwar_event_calls", "Calls to endpoints of events.", self.events.series())?;
        let help = "Time that calls to endpoints took.";
        page.histograms("dwar_event_call_duration_seconds", help, self.event_calls.series())?;
        let [in_progress, waiting] = self.calling.each_ref().map(|it| it.load(Ordering::Relaxed));
        let help = "Calls to endpoints in progress.";
        page.gauges("dwar_event_calls_in_progress", help, [([], in_progress)])?;
        let help = "Deliveries that this process has claimed and not begun.";
        page.gauges("dwar_event_deliveries_waiting", help, [([], waiting)])
    }
}

impl Observer for Counts {
    fn answered(&self, answered: &AnsweredRequest) {
        self.requests.count(answered);
    }

    fn limited(&self, scope: RequestScope, admitted: bool) {
        let scope = match scope {
            RequestScope::Send => SCOPES[0],
            RequestScope::Verify => SCOPES[1],
            RequestScope::Validate => SCOPES[2],
            RequestScope::General => SCOPES[3],
        };
        self.limited.count([scope, if admitted { ADMITTED } else { REFUSED }]);
    }

    fn sent(&self, mode: KeyMode, kind: SendKind, end: SendEnd) {
        self.codes.sends.count([mode.as_str(), kind.as_str(), end.as_str()]);
    }

    fn guarded(&self, verdict: GuardVerdict) {
        self.codes.guarded.count([verdict.as_str()]);
    }

    fn attempted(&self, attempt: &DeliveryAttempt, report: &Report) {
        let end = match report {
            Report::Failed(reason) => reason.as_str(),
            _ => ACCEPTED,
        };
        self.codes.attempts.count([
            attempt.channel.as_str(),
            self.codes.provider(&attempt.provider),
            end,
        ]);
    }

    fn called(&self, channel: Channel, provider: &str, took: Duration) {
        self.codes.calls.observe([channel.as_str(), self.codes.provider(provider)], took);
    }

    fn fell_back(&self) {
        self.codes.fallbacks.count([]);
    }

    fn delivered(&self, channel: Channel, after: Duration) {
        self.codes.deliveries.observe([channel.as_str()], after);
    }

    fn guessed(&self, mode: KeyMode, end: GuessEnd, left: Option<Duration>) {
        self.codes.guesses.count([mode.as_str(), end.as_str()]);
        if let Some(left) = left.filter(|_| !mode.is_test()) {
            self.codes.verifications.observe([], self.codes.lifetime.saturating_sub(left));
        }
    }

    fn reported(&self, provider: &str, end: ReceiptEnd) {
        self.codes.receipts.count([provider, end.as_str()]);
    }

    fn told(&self, outcome: Result<u16, SendFailure>, took: Duration) {
        self.events.count([outcome.err().map_or(DELIVERED, |failure| failure.word().0)]);
        self.event_calls.observe([], took);
    }

    fn calling(&self, in_progress: u32, waiting: u32) {
        let [in_progress_now, waiting_now] = &self.calling;
        in_progress_now.store(in_progress, Ordering::Relaxed);
        waiting_now.store(waiting, Ordering::Relaxed);
    }
}
