//! Counts of codes in delivery: sends, providers, receipts, guesses.

use crate::page::Page;
use crate::table::{OTHER, Table, TimeTable, words};
use crate::times::{CALLS, PEOPLE};
use dwar_app::{GuessEnd, ReceiptEnd, SendEnd, SendKind};
use dwar_kernel::{Channel, GuardVerdict, KeyMode};
use dwar_otp::Reason;
use std::fmt;
use std::time::Duration;

/// The label of an attempt that a provider accepted.
pub(crate) const ACCEPTED: &str = "accepted";
const REFUSED: &str = "refused";

/// The configured providers of messages, whose names become labels.
#[derive(Clone, Debug, Default)]
pub struct Providers {
    pub names: Vec<String>,
    pub reporting: Vec<String>,
    pub lifetime: Duration,
}

#[derive(Debug)]
pub(crate) struct Codes {
    providers: Vec<String>,
    pub(crate) lifetime: Duration,
    pub(crate) sends: Table<3>,
    pub(crate) guarded: Table<1>,
    /// The third label is [`ACCEPTED`] or the reason of the refusal.
    pub(crate) attempts: Table<3>,
    pub(crate) calls: TimeTable<2>,
    pub(crate) fallbacks: Table<0>,
    pub(crate) receipts: Table<2>,
    pub(crate) deliveries: TimeTable<1>,
    pub(crate) guesses: Table<2>,
    pub(crate) verifications: TimeTable<0>,
}

impl Codes {
    pub(crate) fn new(providers: Providers) -> Self {
        let Providers { names, reporting, lifetime } = providers;
        let modes = || words(KeyMode::ALL.map(KeyMode::as_str));
        let channels = || words(Channel::ALL.map(Channel::as_str));
        let known: Vec<String> = names.iter().cloned().chain([OTHER.to_owned()]).collect();
        let ends = [ACCEPTED].into_iter().chain(Reason::ALL.map(Reason::as_str));
        let kinds = words(SendKind::ALL.map(SendKind::as_str));
        let send_ends = words(SendEnd::ALL.map(SendEnd::as_str));
        let receipt_ends = words(ReceiptEnd::ALL.map(ReceiptEnd::as_str));
        let guess_ends = words(GuessEnd::ALL.map(GuessEnd::as_str));
        Self {
            sends: Table::new([("mode", modes()), ("kind", kinds), ("outcome", send_ends)]),
            guarded: Table::new([("verdict", words(GuardVerdict::ALL.map(GuardVerdict::as_str)))]),
            attempts: Table::new([
                ("channel", channels()),
                ("provider", known.clone()),
                ("end", words(ends)),
            ]),
            calls: TimeTable::new(CALLS, [("channel", channels()), ("provider", known)]),
            fallbacks: Table::new([]),
            receipts: Table::new([("provider", reporting), ("outcome", receipt_ends)]),
            deliveries: TimeTable::new(PEOPLE, [("channel", channels())]),
            guesses: Table::new([("mode", modes()), ("outcome", guess_ends)]),
            verifications: TimeTable::new(PEOPLE, []),
            providers: names,
            lifetime,
        }
    }

    /// A provider that was removed from the configuration may still have recorded attempts.
    pub(crate) fn provider<'name>(&self, name: &'name str) -> &'name str {
        if self.providers.iter().any(|known| known == name) { name } else { OTHER }
    }

    pub(crate) fn show(&self, page: &mut Page<'_>) -> fmt::Result {
        page.counters("dwar_sends", "Calls to send, by how they ended.", self.sends.series())?;
        let help = "Sends that the guard judged and did not refuse, by verdict; in watch, address, series, project and \
            day say what it refuses in enforce.";
        page.counters("dwar_guarded_sends", help, self.guarded.series())?;
        let attempts = self.attempts.series().map(|([channel, provider, (_, end)], count)| {
            let (outcome, reason) = if end == ACCEPTED { (ACCEPTED, "") } else { (REFUSED, end) };
            ([channel, provider, ("outcome", outcome), ("reason", reason)], count)
        });
        let help = "Messages handed to providers, by answer.";
        page.counters("dwar_send_attempts", help, attempts)?;
        let help = "Time that calls to providers took.";
        page.histograms("dwar_provider_call_duration_seconds", help, self.calls.series())?;
        let help = "Messages that went on to a further provider.";
        page.counters("dwar_send_fallbacks", help, self.fallbacks.series())?;
        let help = "What providers reported of messages.";
        page.counters("dwar_receipts", help, self.receipts.series())?;
        let help = "Time from a live send to the report that it arrived.";
        page.histograms("dwar_delivery_duration_seconds", help, self.deliveries.series())?;
        let help = "Guesses at codes, by outcome.";
        page.counters("dwar_verifications", help, self.guesses.series())?;
        let help = "Time from a live send to the right guess.";
        page.histograms("dwar_verification_duration_seconds", help, self.verifications.series())
    }
}
