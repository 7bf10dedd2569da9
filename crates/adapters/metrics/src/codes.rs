//! Codes on their way: sends, providers, receipts, guesses.

use crate::page::Page;
use crate::table::{OTHER, Table, TimeTable};
use crate::times::{CALLS, PEOPLE};
use dwar_app::{GuessEnd, ReceiptEnd, SendEnd, SendKind};
use dwar_kernel::{Channel, KeyMode};
use dwar_otp::{DeliveryAttempt, Reason, Report};
use std::fmt;
use std::time::Duration;

/// An attempt that a provider took.
const ACCEPTED: &str = "accepted";
const REFUSED: &str = "refused";

/// Who carries messages, as configured.
#[derive(Clone, Debug, Default)]
pub struct Providers {
    pub names: Vec<String>,
    /// Those that report what became of a message.
    pub reporting: Vec<String>,
    /// How long a code lives.
    pub lifetime: Duration,
}

/// Counts codes.
#[derive(Debug)]
pub(crate) struct Codes {
    providers: Vec<String>,
    lifetime: Duration,
    sends: Table<3>,
    /// The third word is [`ACCEPTED`], or why it was refused.
    attempts: Table<3>,
    calls: TimeTable<2>,
    fallbacks: Table<0>,
    receipts: Table<2>,
    deliveries: TimeTable<1>,
    guesses: Table<2>,
    verifications: TimeTable<0>,
}

impl Codes {
    pub(crate) fn new(providers: Providers) -> Self {
        let Providers { names, reporting, lifetime } = providers;
        let modes = || words(KeyMode::ALL.map(KeyMode::as_str));
        let channels = || words(Channel::ALL.map(Channel::as_str));
        let known: Vec<String> = names.iter().cloned().chain([OTHER.to_owned()]).collect();
        let ends = [ACCEPTED].into_iter().chain(Reason::ALL.map(Reason::as_str));
        let of = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect::<Vec<_>>();
        Self {
            sends: Table::new([
                ("mode", modes()),
                ("kind", words(SendKind::ALL.map(SendKind::as_str))),
                ("outcome", words(SendEnd::ALL.map(SendEnd::as_str))),
            ]),
            attempts: Table::new([
                ("channel", of(channels())),
                ("provider", known.clone()),
                ("end", of(ends.collect())),
            ]),
            calls: TimeTable::new(CALLS, [("channel", of(channels())), ("provider", known)]),
            fallbacks: Table::new::<&str>([]),
            receipts: Table::new([
                ("provider", reporting),
                ("outcome", of(words(ReceiptEnd::ALL.map(ReceiptEnd::as_str)))),
            ]),
            deliveries: TimeTable::new(PEOPLE, [("channel", channels())]),
            guesses: Table::new([
                ("mode", modes()),
                ("outcome", words(GuessEnd::ALL.map(GuessEnd::as_str))),
            ]),
            verifications: TimeTable::new::<&str>(PEOPLE, []),
            providers: names,
            lifetime,
        }
    }

    pub(crate) fn sent(&self, mode: KeyMode, kind: SendKind, end: SendEnd) {
        self.sends.count([mode.as_str(), kind.as_str(), end.as_str()]);
    }

    pub(crate) fn attempted(&self, attempt: &DeliveryAttempt, report: &Report) {
        let end = match report {
            Report::Failed(reason) => reason.as_str(),
            _ => ACCEPTED,
        };
        self.attempts.count([attempt.channel.as_str(), self.provider(&attempt.provider), end]);
    }

    pub(crate) fn called(&self, channel: Channel, provider: &str, took: Duration) {
        self.calls.observe([channel.as_str(), self.provider(provider)], took);
    }

    pub(crate) fn fell_back(&self) {
        self.fallbacks.count([]);
    }

    pub(crate) fn delivered(&self, channel: Channel, after: Duration) {
        self.deliveries.observe([channel.as_str()], after);
    }

    pub(crate) fn guessed(&self, mode: KeyMode, end: GuessEnd, left: Option<Duration>) {
        self.guesses.count([mode.as_str(), end.as_str()]);
        if let Some(left) = left.filter(|_| !mode.is_test()) {
            self.verifications.observe([], self.lifetime.saturating_sub(left));
        }
    }

    pub(crate) fn reported(&self, provider: &str, end: ReceiptEnd) {
        self.receipts.count([provider, end.as_str()]);
    }

    /// A provider that has left the configuration may still have an attempt on record.
    fn provider<'name>(&self, name: &'name str) -> &'name str {
        if self.providers.iter().any(|known| known == name) { name } else { OTHER }
    }

    pub(crate) fn show(&self, page: &mut Page<'_>) -> fmt::Result {
        page.counters("dwar_sends", "Calls to send, by how they ended.", self.sends.series())?;
        let attempts = self.attempts.series().map(|([channel, provider, (_, end)], count)| {
            let (outcome, reason) = if end == ACCEPTED { (ACCEPTED, "") } else { (REFUSED, end) };
            ([channel, provider, ("outcome", outcome), ("reason", reason)], count)
        });
        let help = "Messages handed to providers, and what they said.";
        page.counters("dwar_send_attempts", help, attempts)?;
        let help = "Time that calls to providers took.";
        page.histograms("dwar_provider_call_duration_seconds", help, self.calls.series())?;
        let help = "Messages that went on to a further provider.";
        page.counters("dwar_send_fallbacks", help, self.fallbacks.series())?;
        let help = "What providers reported of messages.";
        page.counters("dwar_receipts", help, self.receipts.series())?;
        let help = "Time from a live send to the report that it arrived.";
        page.histograms("dwar_delivery_duration_seconds", help, self.deliveries.series())?;
        let help = "Guesses at codes, by what became of them.";
        page.counters("dwar_verifications", help, self.guesses.series())?;
        let help = "Time from a live send to the right guess.";
        page.histograms("dwar_verification_duration_seconds", help, self.verifications.series())
    }
}

fn words<const N: usize>(words: [&'static str; N]) -> Vec<&'static str> {
    words.to_vec()
}
