use crate::{Causes, DurationHistogram};
use dwar_kernel::{GuardVerdict, Paise};

/// Counts of the requests that one channel and provider carried, and of every message handed to it.
///
/// Each request counts once, for the provider that carried it: the one that delivered it, else the last one
/// that accepted it, else the last one tried. That provider is also the one paid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub attempts: u64,
    pub accepted: u64,
    /// Of these attempts, reported to have reached the phone.
    pub arrived: u64,
    /// Of these attempts, refused or reported to have failed.
    pub failed: u64,
    /// Of these attempts, those with relayed codes, which are never verified here.
    pub relay_attempts: u64,
    pub requests: u64,
    /// Of these requests, those for relayed codes.
    pub relays: u64,
    /// Of these requests, reported to have reached the phone.
    pub delivered: u64,
    pub verified: u64,
    /// Charges for these requests, less refunds.
    pub spent: Paise,
    /// Times from request to verification.
    pub times: DurationHistogram,
    /// Times from request to delivery, as far as reported.
    pub delivery_times: DurationHistogram,
    /// Why messages failed, and why sends were refused.
    pub causes: Causes,
    pub guard: GuardCounts,
}

/// Counts of the requests that the guard judged (docs/guard.md), by its verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GuardCounts {
    /// Requests with any verdict.
    pub judged: u64,
    /// Of these requests, those of visitors for whom the caller vouched.
    pub trusted: u64,
    pub trusted_verified: u64,
    /// Of these requests, those that a guard in `enforce` refuses, by its verdict.
    pub over_address: u64,
    pub over_series: u64,
    pub over_project: u64,
    pub over_day: u64,
    /// Of those that it refuses, the verified ones.
    pub refusable_verified: u64,
}

impl GuardCounts {
    /// The counts of one request.
    pub fn of(verdict: GuardVerdict, is_verified: bool) -> Self {
        let is = |other| u64::from(verdict == other);
        let verified = |counts: bool| u64::from(counts && is_verified);
        Self {
            judged: 1,
            trusted: is(GuardVerdict::Trusted),
            trusted_verified: verified(verdict == GuardVerdict::Trusted),
            over_address: is(GuardVerdict::Address),
            over_series: is(GuardVerdict::Series),
            over_project: is(GuardVerdict::Project),
            over_day: is(GuardVerdict::Day),
            refusable_verified: verified(verdict.is_refusal()),
        }
    }

    /// Adds all counts of `other`; each saturates instead of overflowing.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.judged, other.judged),
            (&mut self.trusted, other.trusted),
            (&mut self.trusted_verified, other.trusted_verified),
            (&mut self.over_address, other.over_address),
            (&mut self.over_series, other.over_series),
            (&mut self.over_project, other.over_project),
            (&mut self.over_day, other.over_day),
            (&mut self.refusable_verified, other.refusable_verified),
        ];
        for (count, more) in pairs {
            *count = count.saturating_add(more);
        }
    }

    /// Requests that a guard in `enforce` asks for a proof.
    pub const fn asked(&self) -> u64 {
        self.over_address.saturating_add(self.over_series).saturating_add(self.over_project)
    }
}

impl Counts {
    /// Adds all counts of `other`; each saturates instead of overflowing.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.attempts, other.attempts),
            (&mut self.accepted, other.accepted),
            (&mut self.arrived, other.arrived),
            (&mut self.failed, other.failed),
            (&mut self.relay_attempts, other.relay_attempts),
            (&mut self.requests, other.requests),
            (&mut self.relays, other.relays),
            (&mut self.delivered, other.delivered),
            (&mut self.verified, other.verified),
        ];
        for (count, more) in pairs {
            *count = count.saturating_add(more);
        }
        self.spent.0 = self.spent.0.saturating_add(other.spent.0);
        self.times.merge(&other.times);
        self.delivery_times.merge(&other.delivery_times);
        self.causes.merge(&other.causes);
        self.guard.add(&other.guard);
    }

    /// Delivered requests, as a share of all requests.
    pub const fn delivery(&self) -> Ratio {
        Ratio { part: self.delivered, whole: self.requests }
    }

    /// Verified requests, as a share of the requests for login codes.
    pub const fn conversion(&self) -> Ratio {
        Ratio { part: self.verified, whole: self.requests.saturating_sub(self.relays) }
    }

    /// Delivered messages, as a share of all messages handed over.
    pub const fn arrival(&self) -> Ratio {
        Ratio { part: self.arrived, whole: self.attempts }
    }

    /// Verified codes, as a share of messages with login codes; another provider in between makes a message
    /// count as not verified.
    pub const fn verification(&self) -> Ratio {
        Ratio { part: self.verified, whole: self.attempts.saturating_sub(self.relay_attempts) }
    }

    /// Cost per verified code, including codes that were not verified, rounded; `None` if none was verified.
    pub fn cost_per_login(&self) -> Option<Paise> {
        let verified = i64::try_from(self.verified).ok()?;
        let spent = self.spent.0.max(0);
        let rounded = spent.saturating_mul(2).saturating_add(verified);
        rounded.checked_div(verified.checked_mul(2)?).map(Paise)
    }

    /// Whether the provider reported the outcome of any message that it had accepted.
    pub const fn has_receipts(&self) -> bool {
        // A message that was accepted and failed later counts in both.
        self.arrived > 0 || self.accepted.saturating_add(self.failed) > self.attempts
    }
}

/// A project's sends in total, over all channels and providers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    pub requests: u64,
    pub relays: u64,
    pub verified: u64,
    /// Charges for these requests, less refunds.
    pub spent: Paise,
    /// Requests of visitors for whom the caller vouched.
    pub trusted: u64,
    pub trusted_verified: u64,
}

impl Traffic {
    /// Verified requests, as a share of the requests for login codes.
    pub const fn conversion(&self) -> Ratio {
        Ratio { part: self.verified, whole: self.requests.saturating_sub(self.relays) }
    }

    /// Adds all counts of `other`; each saturates instead of overflowing.
    pub const fn add(&mut self, other: &Self) {
        self.trusted = self.trusted.saturating_add(other.trusted);
        self.trusted_verified = self.trusted_verified.saturating_add(other.trusted_verified);
        self.requests = self.requests.saturating_add(other.requests);
        self.relays = self.relays.saturating_add(other.relays);
        self.verified = self.verified.saturating_add(other.verified);
        self.spent.0 = self.spent.0.saturating_add(other.spent.0);
    }
}

/// A part of a number of cases, to be shown as a percentage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    pub part: u64,
    pub whole: u64,
}

impl Ratio {
    /// Least number of cases for a meaningful percentage: below it, a single case moves the percentage by
    /// more than five points.
    pub const ENOUGH: u64 = 20;

    /// The share in thousandths, rounded; `None` with too few cases.
    pub fn permille(self) -> Option<u64> {
        self.permille_of_any().filter(|_| self.whole >= Self::ENOUGH)
    }

    /// The share in thousandths with however few cases; `None` without any.
    pub fn permille_of_any(self) -> Option<u64> {
        let (part, whole) = (u128::from(self.part), u128::from(self.whole));
        let rounded = (part * 2_000 + whole).checked_div(whole * 2)?;
        u64::try_from(rounded).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_cases_have_no_percentage() {
        for (part, whole, permille) in
            [(0, 0, None), (1, 1, None), (19, 19, None), (20, 20, Some(1_000)), (37, 52, Some(712))]
        {
            assert_eq!(Ratio { part, whole }.permille(), permille, "{part} of {whole}");
        }
    }

    #[test]
    fn what_is_verified_elsewhere_takes_nothing_from_the_rates() {
        let logins = Counts { attempts: 5, requests: 4, verified: 2, ..Counts::default() };
        let mut counts =
            Counts { attempts: 9, relay_attempts: 9, requests: 7, relays: 7, ..Counts::default() };
        counts.add(&logins);
        assert_eq!(counts.conversion(), Ratio { part: 2, whole: 4 });
        assert_eq!(counts.verification(), Ratio { part: 2, whole: 5 });
        assert_eq!(counts.delivery(), Ratio { part: 0, whole: 11 });
    }

    #[test]
    fn a_login_costs_its_share_of_all_that_was_spent() {
        for (spent, verified, cost) in [
            (0, 0, None),
            (60, 0, None),
            (60, 2, Some(30)),
            (100, 3, Some(33)),
            (50, 3, Some(17)),
            (-5, 1, Some(0)),
        ] {
            let counts = Counts { spent: Paise(spent), verified, ..Counts::default() };
            assert_eq!(counts.cost_per_login(), cost.map(Paise), "{spent} for {verified}");
        }
    }

    #[test]
    fn a_receipt_is_an_arrival_or_a_failure_of_what_was_taken() {
        let counts = |attempts, accepted, arrived, failed| Counts {
            attempts,
            accepted,
            arrived,
            failed,
            ..Counts::default()
        };
        for (counts, told) in [
            (counts(3, 3, 0, 0), false),
            (counts(3, 2, 0, 1), false),
            (counts(3, 3, 1, 0), true),
            (counts(3, 3, 0, 1), true),
            (counts(3, 2, 0, 2), true),
        ] {
            assert_eq!(counts.has_receipts(), told, "{counts:?}");
        }
    }
}
