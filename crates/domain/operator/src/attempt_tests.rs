use super::*;
use crate::tests::Sums;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::time::Duration;

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000, 0).unwrap() + Duration::from_secs(seconds)
}

fn asha() -> OperatorId {
    "00000000-0000-7000-8000-000000000001".parse().unwrap()
}

fn network(address: &str) -> Network {
    Network::of(Some(address.parse().unwrap()))
}

fn from(address: &str) -> Attempt {
    Attempt::with_password(asha(), Origin::Network(network(address)), &Sums)
}

fn browser(number: u8) -> Attempt {
    Attempt::with_password(asha(), Origin::Browser(Digest([number + 100; 32])), &Sums)
}

#[derive(Default)]
struct Counts(BTreeMap<FailureKey, FailureCounter>);

impl Counts {
    fn admit(&mut self, attempt: &Attempt, now: Timestamp) -> AttemptAdmission {
        let counter = |count| {
            Ok::<_, Infallible>(self.0.get(&count).copied().unwrap_or(FailureCounter::fresh(now)))
        };
        let (admission, counted) = attempt.admit(now, counter).unwrap();
        self.0.extend(counted);
        admission
    }

    fn succeed(&mut self, attempt: &Attempt) {
        for count in attempt.counts() {
            if let Some(counter) = self.0.remove(count) {
                self.0.extend(count.after_success(counter).map(|left| (*count, left)));
            }
        }
    }
}

#[test]
fn a_network_is_an_address_or_the_first_half_of_one() {
    for (one, other, same) in [
        ("192.0.2.1", "192.0.2.1", true),
        ("192.0.2.1", "192.0.2.2", false),
        ("::ffff:192.0.2.1", "192.0.2.1", true),
        ("2001:db8::1", "2001:db8::ffff:ffff:ffff:ffff", true),
        ("2001:db8::1", "2001:db8:0:1::1", false),
    ] {
        assert_eq!(network(one) == network(other), same, "{one} {other}");
    }
    assert_ne!(Network::of(None), network("0.0.0.0"));
}

/// The attack: five wrong passwords from one place; other places with the same name are not affected.
#[test]
fn five_failures_lock_the_name_and_the_network_together() {
    let mut counts = Counts::default();
    for _ in 0..5 {
        assert_eq!(counts.admit(&from("192.0.2.1"), at(0)), AttemptAdmission::Admitted);
    }
    assert_eq!(counts.admit(&from("192.0.2.1"), at(0)), AttemptAdmission::Locked(at(30)));
    for other in [from("192.0.2.2"), browser(1)] {
        assert_eq!(counts.admit(&other, at(0)), AttemptAdmission::Admitted);
    }
}

#[test]
fn however_many_networks_take_part_a_name_takes_a_bounded_number_of_guesses_a_day() {
    let (mut counts, mut admitted, mut second) = (Counts::default(), 0_u64, 0);
    for number in 0_u32.. {
        let address = Network::of(Some(IpAddr::V4(number.into())));
        let attempt = Attempt::with_password(asha(), Origin::Network(address), &Sums);
        match counts.admit(&attempt, at(second)) {
            AttemptAdmission::Admitted => admitted += 1,
            AttemptAdmission::Locked(until) => {
                second = (until - at(0)).num_seconds().unsigned_abs()
            }
        }
        // The owner signs in now and then, which gives an attacker no more attempts.
        if number % 500 == 0 {
            counts.admit(&browser(1), at(second));
            counts.succeed(&browser(1));
        }
        if second >= 86_400 {
            break;
        }
    }
    assert!((2_400..=LockoutRule::MOST_A_DAY).contains(&admitted), "{admitted}");
    assert!(counts.0.len() as u64 <= LockoutRule::MOST_A_DAY + 1, "{} rows", counts.0.len());
}

#[test]
fn a_known_browser_has_a_count_of_its_own() {
    let mut counts = Counts::default();
    for number in 0..200_u32 {
        let network = Network::of(Some(IpAddr::V4(number.into())));
        counts.admit(&Attempt::with_password(asha(), Origin::Network(network), &Sums), at(0));
    }
    assert!(matches!(counts.admit(&from("198.51.100.1"), at(0)), AttemptAdmission::Locked(_)));
    for _ in 0..5 {
        assert_eq!(counts.admit(&browser(1), at(0)), AttemptAdmission::Admitted);
    }
    assert_eq!(counts.admit(&browser(1), at(0)), AttemptAdmission::Locked(at(30)));
    assert_eq!(counts.admit(&browser(2), at(0)), AttemptAdmission::Admitted);
}

#[test]
fn codes_are_locked_wherever_they_come_from_but_in_a_known_browser() {
    let (mut counts, codes) = (Counts::default(), Attempt::with_code(asha()));
    for _ in 0..5 {
        assert_eq!(counts.admit(&codes, at(0)), AttemptAdmission::Admitted);
    }
    assert_eq!(counts.admit(&codes, at(0)), AttemptAdmission::Locked(at(30)));
    assert_eq!(counts.admit(&browser(1), at(0)), AttemptAdmission::Admitted);
    assert_eq!(counts.admit(&from("192.0.2.1"), at(0)), AttemptAdmission::Admitted);
}

#[test]
fn a_success_forgets_what_locks_and_gives_the_pace_one_back() {
    let (mut counts, attempt) = (Counts::default(), from("192.0.2.1"));
    for _ in 0..4 {
        counts.admit(&attempt, at(0));
    }
    counts.succeed(&attempt);
    let left: Vec<_> = counts.0.iter().map(|(count, left)| (count.rule, left.failures)).collect();
    assert_eq!(left, [(LockoutRule::Pace, 3)]);
}

/// An attempt refused by the name leaves no row for its network.
#[test]
fn a_flood_of_networks_that_is_refused_leaves_no_rows() {
    let mut counts = Counts::default();
    for number in 0..50_000_u32 {
        let network = Network::of(Some(IpAddr::V4(number.into())));
        counts.admit(&Attempt::with_password(asha(), Origin::Network(network), &Sums), at(0));
    }
    assert_eq!(counts.0.len(), 101);
}

#[test]
fn a_name_that_nobody_has_is_counted_as_one_that_somebody_has_in_bounded_room() {
    let mut counts = Counts::default();
    let home = network("192.0.2.1");
    let nobody = |name: &str, network| Attempt::of_nobody(name, network, &Sums);
    assert_eq!(nobody(" Ravi ", home), nobody("ravi", home));
    for _ in 0..5 {
        assert_eq!(counts.admit(&nobody("ravi", home), at(0)), AttemptAdmission::Admitted);
    }
    assert_eq!(counts.admit(&nobody("ravi", home), at(0)), AttemptAdmission::Locked(at(30)));
    let elsewhere = nobody("ravi", network("192.0.2.2"));
    assert_eq!(counts.admit(&elsewhere, at(0)), AttemptAdmission::Admitted);
    let (mut ids, mut versions) = (BTreeSet::new(), BTreeSet::new());
    for number in 0..200_000 {
        for count in nobody(&format!("nobody {number}"), home).counts() {
            ids.insert((count.operator, count.rule));
            versions.insert(count.operator.uuid().get_version_num());
        }
    }
    assert!(ids.len() <= 131_072 && versions == BTreeSet::from([0]), "{}", ids.len());
}

#[test]
fn counts_are_locked_in_one_order() {
    let all = from("192.0.2.1").and(Attempt::with_code(asha())).and(browser(7));
    assert!(all.counts().is_sorted());
    assert_eq!(from("192.0.2.1").counts()[0].rule, LockoutRule::Pace, "the name refuses first");
}
