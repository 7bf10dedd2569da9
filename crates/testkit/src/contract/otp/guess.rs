use super::{Answer, counted, stored};
use crate::contract::{CROWD, ROUNDS, count};
use crate::scene::Scene;
use crate::{CODE, Line, MS, START, Stores, WRONG_CODE, race, seconds};
use dwar_kernel::{KeyMode, OtpId};
use dwar_login::Redemption;
use dwar_otp::{GuessBudget, GuessPeriod, GuessPolicy, Otp, OtpState, Report};
use std::sync::Arc;

const NOW: std::time::Duration = seconds(1);

/// The right code is accepted once; afterwards there is no code.
pub async fn the_right_code_is_accepted_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    assert_eq!(scene.try_code(&line, CODE).await, Answer::NotFound);
    let otp = scene.issued(&line).await;
    assert_eq!(scene.try_code(&line, CODE).await, Answer::Accepted);
    assert_eq!(stored(stores, &otp).await.unwrap().state, OtpState::Used);
    assert_eq!(scene.try_code(&line, CODE).await, Answer::NotFound);
    assert_eq!(scene.try_code(&line, WRONG_CODE).await, Answer::NotFound);
}

/// Each wrong code is on record when it is answered; the last allowed one locks the code until it expires.
pub async fn wrong_codes_are_counted_and_the_last_one_locks(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for max_wrong in [5, 20] {
        let line = scene.line();
        let otp = scene.issue(Otp { max_wrong, ..scene.make.otp(&line) }).await;
        for wrong in 1..=max_wrong {
            assert_eq!(scene.try_code(&line, WRONG_CODE).await, Answer::Wrong);
            assert_eq!(stored(stores, &otp).await.unwrap().wrong, wrong);
        }
        assert_eq!(stored(stores, &otp).await.unwrap().state, OtpState::Locked);
        for code in [WRONG_CODE, CODE] {
            assert_eq!(scene.try_code(&line, code).await, Answer::Locked);
        }
        let at = |now| scene.try_at(&line, CODE, GuessPolicy::OFF, now);
        assert_eq!(at(otp.expires_at - MS).await, Answer::Locked);
        assert_eq!(at(otp.expires_at).await, Answer::NotFound);
        assert_eq!(stored(stores, &otp).await.unwrap().wrong, max_wrong);
    }
}

/// The right code is still accepted at the last remaining attempt.
pub async fn the_right_code_is_accepted_at_the_last_try(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let otp = scene.issued(&line).await;
    for _ in 1..otp.max_wrong {
        assert_eq!(scene.try_code(&line, WRONG_CODE).await, Answer::Wrong);
    }
    assert_eq!(scene.try_code(&line, CODE).await, Answer::Accepted);
}

/// The time of each judged guess is on record, the right one last. Guesses that were not compared are not
/// recorded, and a report changes none of them. Only the last sixteen are kept.
pub async fn each_guess_that_was_judged_is_on_record_with_its_instant(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let otp = scene.issued(&line).await;
    let judged = [1, 2_500, 2_500, 59_999].map(|at| START + MS * at);
    for at in judged.iter().take(3) {
        scene.try_at(&line, WRONG_CODE, GuessPolicy::OFF, *at).await;
    }
    assert_eq!(stored(stores, &otp).await.unwrap().guesses, judged[..3]);
    assert_eq!(stored(stores, &otp).await.unwrap().verified_at(), None);
    scene.try_at(&line, CODE, GuessPolicy::OFF, judged[3]).await;
    scene.try_at(&line, CODE, GuessPolicy::OFF, START + seconds(70)).await;
    scene.reports(&otp, 0, Report::Delivered, START + NOW).await.unwrap();
    let used = stored(stores, &otp).await.unwrap();
    assert_eq!((used.guesses.as_slice(), used.verified_at()), (&judged[..], Some(judged[3])));

    let line = scene.line();
    let otp = scene.issue(Otp { max_wrong: 20, ..scene.make.otp(&line) }).await;
    for second in 1..=25 {
        scene.try_at(&line, WRONG_CODE, GuessPolicy::OFF, START + seconds(second)).await;
    }
    let kept: Vec<_> = (5..=20).map(|second| START + seconds(second)).collect();
    assert_eq!(stored(stores, &otp).await.unwrap().guesses, kept);
}

/// A code works until its last millisecond, and not at the instant of its expiry.
pub async fn a_code_ends_at_the_exact_instant(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let otp = scene.issued(&line).await;
    let at = |code, now| scene.try_at(&line, code, GuessPolicy::OFF, now);
    assert_eq!(at(CODE, otp.expires_at).await, Answer::NotFound);
    assert_eq!(at(WRONG_CODE, otp.expires_at).await, Answer::NotFound);
    assert_eq!(stored(stores, &otp).await.unwrap().wrong, 0);
    assert_eq!(counted(stores, &line).await, GuessBudget::default());
    assert_eq!(at(CODE, otp.expires_at - MS).await, Answer::Accepted);
}

/// Guesses reach only the code of their own project, mode and phone.
pub async fn guesses_stay_inside_project_mode_and_phone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let otp = scene.issued(&line).await;
    let mut strangers = vec![scene.line()];
    strangers.extend(scene.elsewhere(&line).await);
    for stranger in &strangers {
        assert_eq!(scene.try_code(stranger, CODE).await, Answer::NotFound);
        scene.issue(scene.make.otp_with(stranger, "654321", START)).await;
        assert_eq!(scene.try_code(stranger, CODE).await, Answer::Wrong);
        assert_eq!(counted(stores, stranger).await.wrong, 1);
    }
    assert_eq!(counted(stores, &line).await, GuessBudget::default());
    assert_eq!(stored(stores, &otp).await.as_ref(), Some(&otp));
    assert_eq!(scene.try_code(&line, CODE).await, Answer::Accepted);
}

async fn guess_at_once(scene: &Scene, line: &Line, code: &str, policy: GuessPolicy) -> Vec<Answer> {
    race(CROWD, |_| {
        let store = Arc::clone(&scene.stores.logins);
        let redemption = Redemption { policy, ..scene.make.redemption(line, code) };
        async move { store.redeem(redemption, START + NOW).await.unwrap().into() }
    })
    .await
}

/// Exactly one of two hundred concurrent right codes is accepted.
pub async fn right_codes_at_once_are_accepted_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let otp = scene.issued(&line).await;
        let answers = guess_at_once(&scene, &line, CODE, GuessPolicy::OFF).await;
        assert_eq!(count(&answers, |answer| *answer == Answer::Accepted), 1);
        assert_eq!(count(&answers, |answer| *answer == Answer::NotFound), CROWD - 1);
        assert_eq!(stored(stores, &otp).await.unwrap().state, OtpState::Used);
    }
}

/// Two hundred concurrent wrong guesses are compared with the code exactly as often as the code allows.
pub async fn wrong_codes_at_once_are_judged_up_to_the_limit(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for (max_wrong, judged) in [(5, 5), (20, 20)].repeat(ROUNDS / 2) {
        let line = scene.line();
        let otp = scene.issue(Otp { max_wrong, ..scene.make.otp(&line) }).await;
        let answers = guess_at_once(&scene, &line, WRONG_CODE, GuessPolicy::OFF).await;
        assert_eq!(count(&answers, |answer| *answer == Answer::Wrong), judged);
        assert_eq!(count(&answers, |answer| *answer == Answer::Locked), CROWD - judged);
        let otp = stored(stores, &otp).await.unwrap();
        assert_eq!((otp.state, otp.wrong), (OtpState::Locked, max_wrong));
        assert_eq!(counted(stores, &line).await.wrong, max_wrong);
    }
}

const STOP_AT_SEVEN: GuessPolicy =
    GuessPolicy { stop_at: 7, stop_for: seconds(300), period: seconds(86_400), ..GuessPolicy::OFF };

/// Wrong codes are counted across resends and stop the guessing.
pub async fn the_budget_counts_across_resends(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let policy = STOP_AT_SEVEN;
    assert_eq!(counted(stores, &line).await, GuessBudget::default());
    scene.issued(&line).await;
    let began_at = START + NOW;
    for _ in 1..=5 {
        scene.try_at(&line, WRONG_CODE, policy, began_at).await;
    }
    let second = scene.issued(&line).await;
    let last = START + seconds(2);
    for code in [WRONG_CODE, WRONG_CODE] {
        assert_eq!(scene.try_at(&line, code, policy, last).await, Answer::Wrong);
    }
    assert_eq!(scene.try_at(&line, CODE, policy, last).await, Answer::Locked);
    assert_eq!(stored(stores, &second).await.unwrap().state, OtpState::Locked);

    let served = last + policy.stop_for;
    scene.issued(&line).await;
    assert_eq!(scene.try_at(&line, CODE, policy, served - MS).await, Answer::Locked);
    scene.issued(&line).await;
    assert_eq!(scene.try_at(&line, WRONG_CODE, policy, served).await, Answer::Wrong);
    // There is no second stop, and a success only resets the count in a row.
    assert_eq!(scene.try_at(&line, CODE, policy, served).await, Answer::Accepted);
    let period = Some(GuessPeriod { began_at, wrong: 8, stopped_at: Some(last) });
    let on = GuessBudget { wrong: 0, last_wrong_at: Some(served), period, devices: None };
    assert_eq!(counted(stores, &line).await, on);
}

/// The period ends at its exact instant, and the next one begins with a wrong code.
pub async fn a_period_ends_at_the_exact_instant(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let ends = START + STOP_AT_SEVEN.period;
    for (now, wrong, began_at) in [(ends - MS, 2, START), (ends, 1, ends)] {
        let line = scene.line();
        scene.issued(&line).await;
        scene.try_at(&line, WRONG_CODE, STOP_AT_SEVEN, START).await;
        scene.issue(scene.make.otp_with(&line, CODE, ends - seconds(60))).await;
        scene.try_at(&line, WRONG_CODE, STOP_AT_SEVEN, now).await;
        let period = counted(stores, &line).await.period.unwrap();
        assert_eq!((period.wrong, period.began_at), (wrong, began_at));
    }
}

/// Lifted counts are deleted, for this phone only, and returned once.
pub async fn forgotten_guesses_are_gone_and_told_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let forget = async |line: &Line| {
        stores.otps.forget_guesses(line.project_mode, line.index).await.unwrap()
    };
    assert_eq!(forget(&line).await, None);
    scene.issue(Otp { max_wrong: 20, ..scene.make.otp(&line) }).await;
    for _ in 0..7 {
        scene.try_at(&line, WRONG_CODE, STOP_AT_SEVEN, START + NOW).await;
    }
    for other in scene.elsewhere(&line).await {
        assert_eq!(forget(&other).await, None);
    }
    let at = START + NOW;
    let period = Some(GuessPeriod { began_at: at, wrong: 7, stopped_at: Some(at) });
    let counted = GuessBudget { wrong: 7, last_wrong_at: Some(at), period, devices: None };
    assert_eq!(forget(&line).await, Some(counted));
    assert_eq!(forget(&line).await, None);
    scene.issued(&line).await;
    assert_eq!(scene.try_at(&line, CODE, STOP_AT_SEVEN, START + NOW).await, Answer::Accepted);
}

/// One of many concurrent liftings returns the counts, and no guess is counted on both sides.
pub async fn guesses_and_liftings_at_once_count_each_guess_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        scene.issue(Otp { max_wrong: 100, ..scene.make.otp(&line) }).await;
        let answers = race(60, |number| {
            let (stores, wrong) = (stores.clone(), scene.make.redemption(&line, WRONG_CODE));
            let Line { project_mode, index, .. } = line.clone();
            async move {
                if number % 3 == 0 {
                    return stores.otps.forget_guesses(project_mode, index).await.unwrap();
                }
                stores.logins.redeem(wrong, START + NOW).await.unwrap();
                None
            }
        })
        .await;
        let lifted: u32 = answers.iter().flatten().map(|counted| counted.wrong).sum();
        assert_eq!(lifted + counted(stores, &line).await.wrong, 40);
    }
}

/// A guess at the code of another request is not found, is not counted, and does not change the
/// code.
pub async fn a_guess_is_judged_for_the_request_it_names(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let old = scene.issued(&line).await;
    let present = scene.issued(&line).await;
    let try_for = async |request: OtpId, code: &str| -> Answer {
        let guess = scene.make.guess(code).meant_for(Some(request));
        let redemption = Redemption { guess, ..scene.make.redemption(&line, code) };
        stores.logins.redeem(redemption, START + NOW).await.unwrap().into()
    };
    for code in [WRONG_CODE, CODE] {
        assert_eq!(try_for(old.id, code).await, Answer::NotFound);
        assert_eq!(try_for(scene.make.id(), code).await, Answer::NotFound);
    }
    assert_eq!(stored(stores, &present).await.as_ref(), Some(&present));
    assert_eq!(counted(stores, &line).await, GuessBudget::default());
    assert_eq!(try_for(present.id, WRONG_CODE).await, Answer::Wrong);
    assert_eq!(try_for(present.id, CODE).await, Answer::Accepted);
    assert_eq!(try_for(present.id, CODE).await, Answer::NotFound);
}

/// With a concurrent resend, a guess for the old request never counts against the new one.
pub async fn a_named_guess_and_a_resend_at_once_never_cross(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS * 4 {
        let line = scene.line();
        let old = scene.issued(&line).await;
        let new = scene.make.otp(&line);
        race(9, |number| {
            let (store, new) = (Arc::clone(&stores.logins), scene.make.new_send_of(new.clone()));
            let guess = scene.make.guess(WRONG_CODE).meant_for(Some(old.id));
            let redemption = Redemption { guess, ..scene.make.redemption(&line, WRONG_CODE) };
            async move {
                if number == 4 {
                    store.prepare(new, START).await.map(drop).unwrap();
                } else {
                    store.redeem(redemption, START + NOW).await.map(drop).unwrap();
                }
            }
        })
        .await;
        assert_eq!(stored(stores, &new).await.unwrap().wrong, 0);
    }
}

/// Every answer, and the record after it, is what the domain says, numbers included.
pub async fn guesses_are_judged_as_the_domain_does(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let mut count = GuessBudget::default();
    for codes in [[WRONG_CODE; 6].as_slice(), &[WRONG_CODE, CODE, CODE], &[WRONG_CODE; 3]] {
        let mut otp = scene.issued(&line).await;
        for (code, second) in codes.iter().zip(1..) {
            let now = START + seconds(second);
            let judged = otp.judge(&scene.make.guess(code), &mut count, &STOP_AT_SEVEN, now);
            assert_eq!(scene.judge(&line, code, STOP_AT_SEVEN, now).await, judged);
            assert_eq!(stored(stores, &otp).await.as_ref(), Some(&otp));
        }
    }
    assert_eq!(counted(stores, &line).await, count);
}

/// If the budget is the tighter limit, two hundred concurrent wrong codes are judged up to it.
pub async fn the_budget_holds_against_many_at_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.make.line(scene.project.in_mode(KeyMode::Test));
        scene.issue(Otp { max_wrong: 20, ..scene.make.otp(&line) }).await;
        let answers = guess_at_once(&scene, &line, WRONG_CODE, STOP_AT_SEVEN).await;
        assert_eq!(count(&answers, |answer| *answer == Answer::Wrong), 7);
        assert_eq!(count(&answers, |answer| *answer == Answer::Locked), CROWD - 7);
        assert_eq!(counted(stores, &line).await.wrong, 7);
    }
}
