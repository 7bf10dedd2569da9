use dwar_otp::Reason;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Refusals that are kept per provider.
const KEPT: usize = 20;

/// A provider's refusal for a reason other than the phone number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastRefusal {
    pub reason: Reason,
    /// The HTTP status; `None` if the provider did not answer.
    pub status: Option<u16>,
    /// The provider's own code, if the answer contained one.
    pub code: Option<i64>,
}

type RefusalLog = VecDeque<(Instant, LastRefusal)>;

/// The last refusals of each provider; clones share them.
#[derive(Clone, Debug, Default)]
pub struct LastRefusals(Arc<Mutex<BTreeMap<String, RefusalLog>>>);

impl LastRefusals {
    /// The last refusal of the provider with this name; `None` if there was none.
    pub fn of(&self, provider: &str) -> Option<LastRefusal> {
        self.all().get(provider)?.front().map(|(_, refusal)| *refusal)
    }

    /// The latest refusals of the provider with this name, each with its age: newest first, at most 20.
    pub fn latest(&self, provider: &str) -> Vec<(Duration, LastRefusal)> {
        let all = self.all();
        let kept = all.get(provider).into_iter().flatten();
        kept.map(|(at, refusal)| (at.elapsed(), *refusal)).collect()
    }

    pub(crate) fn note(&self, provider: &str, refusal: LastRefusal) {
        if refusal.reason.is_about_the_number() {
            return;
        }
        let mut all = self.all();
        let kept = all.entry(provider.to_owned()).or_default();
        kept.push_front((Instant::now(), refusal));
        kept.truncate(KEPT);
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, RefusalLog>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_refusals_of_each_provider_are_kept_except_those_about_a_phone_number() {
        let refusals = LastRefusals::default();
        let refusal = |reason, code| LastRefusal { reason, status: Some(500), code: Some(code) };
        for code in 0..25 {
            refusals.clone().note("one", refusal(Reason::ProviderUnavailable, code));
            refusals.note("one", refusal(Reason::RejectedNumber, 99));
        }
        refusals.note("other", refusal(Reason::ProviderAuth, 401));
        let latest = refusals.latest("one");
        let codes: Vec<_> = latest.iter().filter_map(|(_, refusal)| refusal.code).collect();
        assert_eq!(codes, (5..25).rev().collect::<Vec<_>>());
        assert_eq!(refusals.of("other"), Some(refusal(Reason::ProviderAuth, 401)));
        assert_eq!((refusals.of("third"), refusals.latest("third")), (None, vec![]));
    }
}
