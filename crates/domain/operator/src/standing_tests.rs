use super::*;
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000, 0).unwrap() + Duration::from_secs(seconds)
}

/// Fails as soon as it may, so many times; gives when each failure was, in seconds from the first.
fn failing(times: usize) -> Vec<u64> {
    let mut standing = Standing::default();
    let mut now = at(0);
    let mut admitted = Vec::new();
    while admitted.len() < times {
        match standing.admit(now) {
            Admission::Admitted => admitted.push((now - at(0)).num_seconds().unsigned_abs()),
            Admission::Locked(until) => now = until,
        }
    }
    admitted
}

#[test]
fn the_fifth_failure_locks_and_each_further_one_for_twice_as_long() {
    let waits: Vec<u64> = failing(15).windows(2).map(|pair| pair[1] - pair[0]).collect();
    let hour = 3_600;
    assert_eq!(waits, [0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1_920, hour, hour, hour]);
}

#[test]
fn a_lock_ends_at_the_exact_instant_that_is_told() {
    let mut standing = Standing::default();
    for _ in 0..5 {
        assert_eq!(standing.admit(at(0)), Admission::Admitted);
    }
    let told = Admission::Locked(at(30));
    assert_eq!((standing.admit(at(0)), standing.admit(at(30) - MS)), (told, told));
    assert_eq!(standing.admit(at(30)), Admission::Admitted);
    assert_eq!(standing.locked_until, Some(at(90)));
}

#[test]
fn a_day_without_attempts_forgets() {
    let mut standing = Standing::default();
    for _ in 0..5 {
        standing.admit(at(0));
    }
    let day = at(86_400);
    assert!(!standing.is_forgotten(day - MS) && standing.is_forgotten(day));
    assert_eq!((standing.admit(day), standing.failures), (Admission::Admitted, 1));
}

#[test]
fn what_is_taken_back_was_never_counted() {
    let mut standing = Standing::default();
    for _ in 0..1_000 {
        assert_eq!(standing.admit(at(0)), Admission::Admitted);
        standing.withdraw();
    }
    assert_eq!((standing.failures, standing.locked_until), (0, None));
}

#[test]
fn strangers_take_turns_with_ids_that_no_operator_gets() {
    let id = |first, second, third| {
        let mut digest = [third; 32];
        (digest[0], digest[1]) = (first, second);
        Standing::of_stranger(&Digest(digest))
    };
    assert_eq!(id(1, 2, 3), id(1, 2, 4));
    assert_ne!(id(1, 2, 3), id(2, 1, 3));
    assert_eq!(id(1, 2, 3).uuid().get_version_num(), 0);
}

proptest! {
    /// Whatever an attacker does, and whenever: within a day no more than the free guesses and one
    /// per lock are judged, and no lock outlasts an hour.
    #[test]
    fn a_day_of_guessing_is_worth_few_guesses(pauses in prop::collection::vec(0_u64..4_000, 1..400)) {
        let (mut standing, mut now, mut admitted) = (Standing::default(), at(0), 0);
        for pause in pauses {
            now += Duration::from_secs(pause);
            if now >= at(86_400) {
                break;
            }
            match standing.admit(now) {
                Admission::Admitted => admitted += 1,
                Admission::Locked(until) => {
                    prop_assert!(until > now && until <= now + LONGEST_LOCK);
                }
            }
        }
        // 5 free ones, 8 while the lock grows, and one per hour.
        prop_assert!(admitted <= 5 + 8 + 24, "{admitted}");
    }

    /// Success or not, an attempt is judged only where no lock holds at its instant.
    #[test]
    fn nothing_is_judged_while_a_lock_holds(steps in prop::collection::vec((0_u64..200, any::<bool>()), 1..200)) {
        let (mut standing, mut now) = (Standing::default(), at(0));
        for (pause, taken_back) in steps {
            now += Duration::from_secs(pause);
            let lock = standing.locked_until.filter(|until| now < *until);
            match (standing.admit(now), lock) {
                (Admission::Locked(until), Some(lock)) => prop_assert_eq!(until, lock),
                (Admission::Admitted, None) if taken_back => standing.withdraw(),
                (Admission::Admitted, None) => {}
                (admission, lock) => prop_assert!(false, "{admission:?} with {lock:?}"),
            }
        }
    }
}
