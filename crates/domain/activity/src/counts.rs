use crate::Times;
use dwar_kernel::Paise;

/// What became of the requests that one channel and provider carried, and of every message handed
/// to it.
///
/// Each request counts once, for the provider that carried it: the one that delivered it, or else
/// the last one that accepted it, or else the last one tried. That provider is also the one paid.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages handed over to the provider.
    pub attempts: u64,
    /// Of these, taken by it.
    pub accepted: u64,
    /// Of these, reported to have reached the phone.
    pub arrived: u64,
    /// Of these, refused or reported to have failed.
    pub failed: u64,
    /// Requests that it carried.
    pub requests: u64,
    /// Of these, reported to have reached the phone.
    pub delivered: u64,
    /// Of these, verified.
    pub verified: u64,
    /// What was charged for these requests, less what was given back.
    pub spent: Paise,
    /// How long these took from request to verification.
    pub times: Times,
}

impl Counts {
    /// Adds all of the other.
    pub fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.attempts, other.attempts),
            (&mut self.accepted, other.accepted),
            (&mut self.arrived, other.arrived),
            (&mut self.failed, other.failed),
            (&mut self.requests, other.requests),
            (&mut self.delivered, other.delivered),
            (&mut self.verified, other.verified),
        ];
        for (count, more) in pairs {
            *count = count.saturating_add(more);
        }
        self.spent.0 = self.spent.0.saturating_add(other.spent.0);
        self.times.merge(&other.times);
    }

    /// Of a thousand requests, how many reached the phone.
    pub fn delivery(&self) -> Option<u64> {
        permille(self.delivered, self.requests)
    }

    /// Of a thousand requests, how many were verified.
    pub fn conversion(&self) -> Option<u64> {
        permille(self.verified, self.requests)
    }

    /// Of the messages handed over, those that reached the phone.
    pub const fn arrival(&self) -> Share {
        Share { part: self.arrived, whole: self.attempts }
    }

    /// Of the messages handed over, those that were verified with no other provider in between.
    pub const fn verification(&self) -> Share {
        Share { part: self.verified, whole: self.attempts }
    }

    /// Whether the provider told of a message that it had taken what became of it.
    pub const fn has_receipts(&self) -> bool {
        // One that was taken and failed later counts both ways.
        self.arrived > 0 || self.accepted.saturating_add(self.failed) > self.attempts
    }
}

/// Some of a number of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// How many it is true of.
    pub part: u64,
    /// How many there are.
    pub whole: u64,
}

impl Share {
    /// From so many cases on a percentage means something: of fewer, a single one moves it by more than
    /// five points.
    pub const ENOUGH: u64 = 20;

    /// Of a thousand, rounded; `None` of too few cases.
    pub fn permille(self) -> Option<u64> {
        permille(self.part, self.whole).filter(|_| self.whole >= Self::ENOUGH)
    }
}

/// Rounded; `None` of nothing.
fn permille(part: u64, whole: u64) -> Option<u64> {
    let (part, whole) = (u128::from(part), u128::from(whole));
    let rounded = (part * 2_000 + whole).checked_div(whole * 2)?;
    u64::try_from(rounded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_cases_have_no_percentage() {
        for (part, whole, permille) in
            [(0, 0, None), (1, 1, None), (19, 19, None), (20, 20, Some(1_000)), (37, 52, Some(712))]
        {
            assert_eq!(Share { part, whole }.permille(), permille, "{part} of {whole}");
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
