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

    /// Of a thousand messages handed over, how many reached the phone.
    pub fn arrival(&self) -> Option<u64> {
        permille(self.arrived, self.attempts)
    }

    /// Of a thousand messages handed over, how many were verified with no other provider in between.
    pub fn verification(&self) -> Option<u64> {
        permille(self.verified, self.attempts)
    }
}

/// Rounded; `None` of nothing.
fn permille(part: u64, whole: u64) -> Option<u64> {
    let (part, whole) = (u128::from(part), u128::from(whole));
    let rounded = (part * 2_000 + whole).checked_div(whole * 2)?;
    u64::try_from(rounded).ok()
}
