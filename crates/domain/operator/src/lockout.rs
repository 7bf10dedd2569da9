use crate::{AttemptAdmission, FailureCounter, FailureKey};
use dwar_kernel::{OperatorId, Timestamp};
use std::collections::BTreeMap;

/// Sign-in attempts of an operator that are refused at present.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lockout {
    /// Number of locked browsers and networks; the codes of the authenticator app count as one.
    pub locked: u32,
    pub locked_until: Option<Timestamp>,
    /// Until when new browsers have to wait, because too many sign-ins with this name failed.
    pub slowed_until: Option<Timestamp>,
}

impl Lockout {
    /// The lockouts of all operators at `now`, computed from the counts of a store.
    pub fn of(
        counts: impl IntoIterator<Item = (FailureKey, FailureCounter)>,
        now: Timestamp,
    ) -> BTreeMap<OperatorId, Self> {
        let mut all: BTreeMap<OperatorId, Self> = BTreeMap::new();
        for (count, mut counter) in counts {
            let AttemptAdmission::Locked(until) = counter.admit(count.rule, now) else { continue };
            let lockout = all.entry(count.operator).or_default();
            if count.is_of_name() {
                lockout.slowed_until = Some(until);
            } else {
                lockout.locked += 1;
                lockout.locked_until = lockout.locked_until.max(Some(until));
            }
        }
        all
    }

    /// Whether no attempt of the operator is refused at present.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Sums;
    use crate::{Attempt, Network, Origin};
    use std::time::Duration;

    fn at(seconds: u64) -> Timestamp {
        Timestamp::from_timestamp(1_800_000_000, 0).unwrap() + Duration::from_secs(seconds)
    }

    fn operator(number: u32) -> OperatorId {
        format!("00000000-0000-7000-8000-{number:012}").parse().unwrap()
    }

    /// The counts that a store keeps after `each` failures from each of `networks` networks.
    fn failed(number: u32, networks: u32, each: u32) -> BTreeMap<FailureKey, FailureCounter> {
        let mut kept = BTreeMap::new();
        for network in 0..networks {
            let network = Network::of(Some(std::net::Ipv4Addr::from(network).into()));
            let attempt = Attempt::with_password(operator(number), Origin::Network(network), &Sums);
            for _ in 0..each {
                let known = |count| {
                    let fresh = FailureCounter::fresh(at(0));
                    Ok::<_, ()>(kept.get(&count).copied().unwrap_or(fresh))
                };
                let (_, counted) = attempt.admit(at(0), known).unwrap();
                kept.extend(counted);
            }
        }
        kept
    }

    #[test]
    fn locks_are_counted_until_the_instant_at_which_they_end() {
        let kept = failed(1, 2, 5).into_iter().chain(failed(2, 3, 4));
        let kept: Vec<_> = kept.collect();
        let locked = Lockout { locked: 2, locked_until: Some(at(30)), slowed_until: None };
        let almost = at(30) - Duration::from_millis(1);
        for now in [at(0), almost] {
            assert_eq!(Lockout::of(kept.clone(), now), [(operator(1), locked)].into());
        }
        assert_eq!(Lockout::of(kept, at(30)), BTreeMap::new());
    }

    #[test]
    fn a_name_with_a_hundred_failures_is_slowed_until_one_wears_off() {
        let kept = failed(1, 100, 1);
        let slowed = Lockout { slowed_until: Some(at(36)), ..Lockout::default() };
        assert_eq!(Lockout::of(kept.clone(), at(35)), [(operator(1), slowed)].into());
        assert!(!slowed.is_none() && Lockout::default().is_none());
        assert_eq!(Lockout::of(kept, at(36)), BTreeMap::new());
        assert_eq!(Lockout::of(failed(1, 99, 1), at(0)), BTreeMap::new());
    }
}
