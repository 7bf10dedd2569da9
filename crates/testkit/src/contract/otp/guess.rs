use super::{Verdict, budget, stored};
use crate::contract::{CROWD, ROUNDS, count};
use crate::stores::Scene;
use crate::{CODE, Line, MS, START, Stores, WRONG_CODE, race, seconds};
use dwar_kernel::KeyMode;
use dwar_otp::{GuessBudget, GuessPolicy, Otp, OtpState};
use std::sync::Arc;

const NOW: std::time::Duration = seconds(1);

/// The right code is accepted once; after that there is none.
pub async fn the_right_code_is_accepted_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    assert_eq!(scene.try_code(&line, CODE).await, Verdict::NotFound);
    let otp = scene.issued(&line).await;
    assert_eq!(scene.try_code(&line, CODE).await, Verdict::Accepted);
    assert_eq!(stored(stores, &otp).await.unwrap().state, OtpState::Used);
    assert_eq!(scene.try_code(&line, CODE).await, Verdict::NotFound);
    assert_eq!(scene.try_code(&line, WRONG_CODE).await, Verdict::NotFound);
}

/// Each wrong code is on record when it is answered; the last one allowed locks, until the end.
pub async fn wrong_codes_are_counted_and_the_last_one_locks(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for max_wrong in [5, 20] {
        let line = scene.line();
        let otp = scene.issue(Otp { max_wrong, ..scene.make.otp(&line) }).await;
        for wrong in 1..=max_wrong {
            assert_eq!(scene.try_code(&line, WRONG_CODE).await, Verdict::Wrong);
            assert_eq!(stored(stores, &otp).await.unwrap().wrong, wrong);
        }
        assert_eq!(stored(stores, &otp).await.unwrap().state, OtpState::Locked);
        for code in [WRONG_CODE, CODE] {
            assert_eq!(scene.try_code(&line, code).await, Verdict::Locked);
        }
        let at = |now| scene.try_at(&line, CODE, GuessPolicy::OFF, now);
        assert_eq!(at(otp.expires_at - MS).await, Verdict::Locked);
        assert_eq!(at(otp.expires_at).await, Verdict::NotFound);
        assert_eq!(stored(stores, &otp).await.unwrap().wrong, max_wrong);
    }
}

/// The right code is still accepted at the last try that is left.
pub async fn the_right_code_is_accepted_at_the_last_try(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let otp = scene.issued(&line).await;
    for _ in 1..otp.max_wrong {
        assert_eq!(scene.try_code(&line, WRONG_CODE).await, Verdict::Wrong);
    }
    assert_eq!(scene.try_code(&line, CODE).await, Verdict::Accepted);
}

/// A code works up to its last millisecond and not at the instant of its end.
pub async fn a_code_ends_at_the_exact_instant(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let otp = scene.issued(&line).await;
    let at = |code, now| scene.try_at(&line, code, GuessPolicy::OFF, now);
    assert_eq!(at(CODE, otp.expires_at).await, Verdict::NotFound);
    assert_eq!(at(WRONG_CODE, otp.expires_at).await, Verdict::NotFound);
    assert_eq!(stored(stores, &otp).await.unwrap().wrong, 0);
    assert_eq!(budget(stores, &line).await, GuessBudget::default());
    assert_eq!(at(CODE, otp.expires_at - MS).await, Verdict::Accepted);
}

/// Guesses reach the code of their own project, mode and phone only.
pub async fn guesses_stay_inside_project_mode_and_phone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let otp = scene.issued(&line).await;
    let mut strangers = vec![scene.line()];
    strangers.extend(scene.elsewhere(&line).await);
    for stranger in &strangers {
        assert_eq!(scene.try_code(stranger, CODE).await, Verdict::NotFound);
        scene.issue(scene.make.otp_with(stranger, "654321", START)).await;
        assert_eq!(scene.try_code(stranger, CODE).await, Verdict::Wrong);
        assert_eq!(budget(stores, stranger).await.wrong, 1);
    }
    assert_eq!(budget(stores, &line).await, GuessBudget::default());
    assert_eq!(stored(stores, &otp).await.as_ref(), Some(&otp));
    assert_eq!(scene.try_code(&line, CODE).await, Verdict::Accepted);
}

async fn guess_at_once(
    scene: &Scene,
    line: &Line,
    code: &str,
    policy: GuessPolicy,
) -> Vec<Verdict> {
    race(CROWD, |_| {
        let (store, guess) = (Arc::clone(&scene.stores.otps), scene.make.guess(code));
        let Line { project, mode, index, .. } = *line;
        async move {
            let now = START + NOW;
            store.attempt(project, mode, index, guess, policy, now).await.unwrap().into()
        }
    })
    .await
}

/// Of two hundred right codes at once exactly one is accepted.
pub async fn right_codes_at_once_are_accepted_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let otp = scene.issued(&line).await;
        let answers = guess_at_once(&scene, &line, CODE, GuessPolicy::OFF).await;
        assert_eq!(count(&answers, |answer| *answer == Verdict::Accepted), 1);
        assert_eq!(count(&answers, |answer| *answer == Verdict::NotFound), CROWD - 1);
        assert_eq!(stored(stores, &otp).await.unwrap().state, OtpState::Used);
    }
}

/// Of two hundred wrong codes at once exactly as many are judged as the code allows.
pub async fn wrong_codes_at_once_are_judged_up_to_the_limit(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for (max_wrong, judged) in [(5, 5), (20, 20)].repeat(ROUNDS / 2) {
        let line = scene.line();
        let otp = scene.issue(Otp { max_wrong, ..scene.make.otp(&line) }).await;
        let answers = guess_at_once(&scene, &line, WRONG_CODE, GuessPolicy::OFF).await;
        assert_eq!(count(&answers, |answer| *answer == Verdict::Wrong), judged);
        assert_eq!(count(&answers, |answer| *answer == Verdict::Locked), CROWD - judged);
        let otp = stored(stores, &otp).await.unwrap();
        assert_eq!((otp.state, otp.wrong), (OtpState::Locked, max_wrong));
        assert_eq!(budget(stores, &line).await.wrong, max_wrong);
    }
}

const STOP_AT_SEVEN: GuessPolicy =
    GuessPolicy { stop_at: 7, stop_for: seconds(300), ..GuessPolicy::OFF };

/// Wrong codes in a row are counted across resends, with or without a policy, and stop the guessing.
pub async fn the_budget_counts_across_resends(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    assert_eq!(budget(stores, &line).await, GuessBudget::default());
    scene.issued(&line).await;
    for wrong in 1..=5 {
        scene.try_code(&line, WRONG_CODE).await;
        let counted = GuessBudget { wrong, last_wrong_at: Some(START + NOW) };
        assert_eq!(budget(stores, &line).await, counted);
    }
    let second = scene.issued(&line).await;
    assert_eq!(budget(stores, &line).await.wrong, 5);
    let last = START + seconds(2);
    for code in [WRONG_CODE, WRONG_CODE] {
        assert_eq!(scene.try_at(&line, code, STOP_AT_SEVEN, last).await, Verdict::Wrong);
    }
    assert_eq!(scene.try_at(&line, CODE, STOP_AT_SEVEN, last).await, Verdict::Locked);
    assert_eq!(stored(stores, &second).await.unwrap().state, OtpState::Locked);
    let spent = GuessBudget { wrong: 7, last_wrong_at: Some(last) };
    assert_eq!(budget(stores, &line).await, spent);

    let served = last + STOP_AT_SEVEN.stop_for;
    scene.issued(&line).await;
    assert_eq!(scene.try_at(&line, CODE, STOP_AT_SEVEN, served - MS).await, Verdict::Locked);
    scene.issued(&line).await;
    assert_eq!(scene.try_at(&line, WRONG_CODE, STOP_AT_SEVEN, served).await, Verdict::Wrong);
    let anew = GuessBudget { wrong: 1, last_wrong_at: Some(served) };
    assert_eq!(budget(stores, &line).await, anew);
    assert_eq!(scene.try_at(&line, CODE, STOP_AT_SEVEN, served).await, Verdict::Accepted);
    assert_eq!(budget(stores, &line).await, GuessBudget::default());
}

/// Every answer, and what is on record after it, is what the domain says, numbers included.
pub async fn attempts_are_judged_as_the_domain_does(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let mut count = GuessBudget::default();
    for codes in [[WRONG_CODE; 6].as_slice(), &[WRONG_CODE, CODE, CODE], &[WRONG_CODE; 3]] {
        let mut otp = scene.issued(&line).await;
        for (code, second) in codes.iter().zip(1..) {
            let now = START + seconds(second);
            let judged = otp.attempt(&scene.make.guess(code), &mut count, &STOP_AT_SEVEN, now);
            assert_eq!(scene.attempt(&line, code, STOP_AT_SEVEN, now).await, judged);
            assert_eq!(stored(stores, &otp).await.as_ref(), Some(&otp));
            assert_eq!(budget(stores, &line).await, count);
        }
    }
}

/// Where the budget is the tighter limit, two hundred wrong codes at once are judged up to it.
pub async fn the_budget_holds_against_many_at_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.make.line(scene.project, KeyMode::Test);
        scene.issue(Otp { max_wrong: 20, ..scene.make.otp(&line) }).await;
        let answers = guess_at_once(&scene, &line, WRONG_CODE, STOP_AT_SEVEN).await;
        assert_eq!(count(&answers, |answer| *answer == Verdict::Wrong), 7);
        assert_eq!(count(&answers, |answer| *answer == Verdict::Locked), CROWD - 7);
        assert_eq!(budget(stores, &line).await.wrong, 7);
    }
}
