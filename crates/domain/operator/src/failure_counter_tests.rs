use super::*;
use proptest::prelude::*;

const MS: Duration = Duration::from_millis(1);

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_timestamp(1_800_000_000, 0).unwrap() + Duration::from_secs(seconds)
}

/// Fails `times` times, each as soon as allowed; returns the time of each failure, in seconds from the first.
fn failing(rule: LockoutRule, times: usize) -> Vec<u64> {
    let mut counter = FailureCounter::fresh(at(0));
    let mut now = at(0);
    let mut admitted = Vec::new();
    while admitted.len() < times {
        match counter.admit(rule, now) {
            AttemptAdmission::Admitted => admitted.push((now - at(0)).num_seconds().unsigned_abs()),
            AttemptAdmission::Locked(until) => now = until,
        }
    }
    admitted
}

#[test]
fn the_fifth_failure_locks_and_each_further_one_for_twice_as_long() {
    let failed = failing(LockoutRule::Lock, 15);
    let waits: Vec<u64> = failed.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let hour = 3_600;
    assert_eq!(waits, [0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1_920, hour, hour, hour]);
}

#[test]
fn a_lock_ends_at_the_exact_instant_that_is_told() {
    let mut counter = FailureCounter::fresh(at(0));
    for _ in 0..5 {
        assert_eq!(counter.admit(LockoutRule::Lock, at(0)), AttemptAdmission::Admitted);
    }
    let told = AttemptAdmission::Locked(at(30));
    let asked = [at(0), at(30) - MS].map(|now| counter.admit(LockoutRule::Lock, now));
    assert_eq!(asked, [told, told]);
    assert_eq!(counter.admit(LockoutRule::Lock, at(30)), AttemptAdmission::Admitted);
    assert_eq!(counter.locked_until, Some(at(90)));
}

#[test]
fn from_the_hundredth_failure_on_a_name_takes_one_each_36_seconds() {
    let failed = failing(LockoutRule::Pace, 104);
    assert_eq!(failed[..100], [0; 100]);
    assert_eq!(failed[100..], [36, 72, 108, 144]);
}

/// The bound that the documentation states: a day of guessing from any number of origins.
#[test]
fn a_name_takes_2_500_guesses_in_24_hours_and_no_more() {
    let failed = failing(LockoutRule::Pace, 5_000);
    let in_a_day = |from: u64| failed.iter().filter(|t| (from..from + 86_400).contains(*t)).count();
    assert_eq!(
        (LockoutRule::MOST_A_DAY, in_a_day(0)),
        (2_500, 2_500 - 1),
        "the last is due at its end"
    );
    for from in failed.iter().step_by(97) {
        assert!(in_a_day(*from) as u64 <= LockoutRule::MOST_A_DAY, "{from}");
    }
}

#[test]
fn less_than_a_hundred_an_hour_is_never_slowed() {
    let (mut counter, mut now) = (FailureCounter::fresh(at(0)), at(0));
    for _ in 0..5_000 {
        assert_eq!(counter.admit(LockoutRule::Pace, now), AttemptAdmission::Admitted);
        now += STEP;
    }
    for _ in 0..99 {
        assert_eq!(counter.admit(LockoutRule::Pace, now), AttemptAdmission::Admitted);
    }
}

#[test]
fn a_day_without_attempts_forgets() {
    let mut counter = FailureCounter::fresh(at(0));
    for _ in 0..5 {
        counter.admit(LockoutRule::Lock, at(0));
    }
    let day = at(86_400);
    assert!(!counter.is_forgotten(day - MS) && counter.is_forgotten(day));
    assert_eq!(
        (counter.admit(LockoutRule::Lock, day), counter.failures),
        (AttemptAdmission::Admitted, 1)
    );
}

#[test]
fn what_is_taken_back_was_never_counted() {
    for rule in [LockoutRule::Lock, LockoutRule::Pace] {
        let mut counter = FailureCounter::fresh(at(0));
        for _ in 0..1_000 {
            assert_eq!(counter.admit(rule, at(0)), AttemptAdmission::Admitted);
            counter.withdraw();
        }
        assert_eq!(counter, FailureCounter::fresh(at(0)));
    }
}

proptest! {
    /// For any behaviour of an attacker, within a day only the free guesses and one per lock are
    /// judged, and no lock lasts longer than an hour.
    #[test]
    fn a_day_of_guessing_is_worth_few_guesses(pauses in prop::collection::vec(0_u64..4_000, 1..400)) {
        let (mut counter, mut now, mut admitted) = (FailureCounter::fresh(at(0)), at(0), 0);
        for pause in pauses {
            now += Duration::from_secs(pause);
            if now >= at(86_400) {
                break;
            }
            match counter.admit(LockoutRule::Lock, now) {
                AttemptAdmission::Admitted => admitted += 1,
                AttemptAdmission::Locked(until) => {
                    prop_assert!(until > now && until <= now + LONGEST_LOCK);
                }
            }
        }
        // 5 free ones, 8 while the lock grows, and one per hour.
        prop_assert!(admitted <= 5 + 8 + 24, "{admitted}");
    }

    /// In any period a name admits at most 100 attempts and one more for each 36 seconds.
    #[test]
    fn no_rhythm_of_guesses_beats_the_pace(pauses in prop::collection::vec(0_u64..100_000, 1..600)) {
        let (mut counter, mut now, mut admitted) = (FailureCounter::fresh(at(0)), at(0), Vec::new());
        for pause in pauses {
            now += Duration::from_millis(pause);
            match counter.admit(LockoutRule::Pace, now) {
                AttemptAdmission::Admitted => admitted.push(now),
                AttemptAdmission::Locked(until) => prop_assert!(until > now && until <= now + STEP),
            }
        }
        for (first, from) in admitted.iter().enumerate() {
            for (last, to) in admitted.iter().enumerate().skip(first) {
                let steps = (*to - *from).num_seconds().unsigned_abs() / STEP.as_secs();
                prop_assert!((last - first) as u64 <= u64::from(BURST) + steps);
            }
        }
    }

    /// Any attempt, successful or not, is judged only if no lock holds at its instant.
    #[test]
    fn nothing_is_judged_while_a_lock_holds(steps in prop::collection::vec((0_u64..200, any::<bool>()), 1..200)) {
        let (mut counter, mut now) = (FailureCounter::fresh(at(0)), at(0));
        for (pause, taken_back) in steps {
            now += Duration::from_secs(pause);
            let lock = counter.locked_until.filter(|until| now < *until);
            match (counter.admit(LockoutRule::Lock, now), lock) {
                (AttemptAdmission::Locked(until), Some(lock)) => prop_assert_eq!(until, lock),
                (AttemptAdmission::Admitted, None) if taken_back => counter.withdraw(),
                (AttemptAdmission::Admitted, None) => {}
                (admission, lock) => prop_assert!(false, "{admission:?} with {lock:?}"),
            }
        }
    }
}
