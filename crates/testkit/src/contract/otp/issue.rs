use super::{Answer, stored};
use crate::contract::{ROUNDS, count};
use crate::scene::Scene;
use crate::{CODE, START, Stores, WRONG_CODE, race, seconds};
use dwar_kernel::{KeyMode, OtpId};
use dwar_otp::{Delivery, GuessBudget, GuessPolicy, GuessVerdict, Otp, OtpState, Route};
use std::sync::Arc;

/// A request is found again exactly as it was issued.
pub async fn issue_keeps_everything(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let otp = scene.issued(&scene.line()).await;
    assert_eq!(stored(stores, &otp).await.as_ref(), Some(&otp));

    let route = Route { hops: scene.make.route().hops.split_off(1), ..scene.make.route() };
    let line = scene.make.line(scene.project.in_mode(KeyMode::Test));
    let bare = Otp {
        sealed_code: None,
        max_wrong: 20,
        delivery: Delivery {
            due_at: None,
            ..Delivery::begin(&route, scene.make.id(), START + seconds(1))
        },
        ..scene.make.otp(&line)
    };
    let bare = scene.issue(bare).await;
    assert_eq!(stored(stores, &bare).await, Some(bare));
}

/// Which code a guess finds, and which code a newer one replaces, follows from the code's own state and
/// expiry, to the instant.
pub async fn which_code_is_in_force_says_the_code(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let states =
        [OtpState::Active, OtpState::Locked, OtpState::Used, OtpState::Superseded, OtpState::Void];
    for (state, expired) in states.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        let line = scene.line();
        let mut otp = scene.issue(Otp { state, ..scene.make.otp(&line) }).await;
        let at = if expired { otp.expires_at } else { otp.expires_at - seconds(1) };
        let verdict = scene.judge(&line, WRONG_CODE, GuessPolicy::OFF, at).await;
        let (guess, mut budget) = (scene.make.guess(WRONG_CODE), GuessBudget::default());
        assert_eq!(verdict, otp.judge(&guess, &mut budget, &GuessPolicy::OFF, at), "{state:?}");
        assert_eq!(verdict == GuessVerdict::NotFound, expired || !state.is_open(), "{state:?}");
        scene.issued(&line).await;
        otp.supersede();
        assert_eq!(stored(stores, &otp).await, Some(otp), "{state:?}, expired: {expired}");
    }
}

/// A request is found only in its own project and mode.
pub async fn find_stays_inside_project_and_mode(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let otp = scene.issued(&scene.line()).await;
    let (other, unknown) = (scene.another().await, scene.make.id::<OtpId>());
    let absent = [
        (other.in_mode(KeyMode::Live), otp.id),
        (scene.project.in_mode(KeyMode::Test), otp.id),
        (scene.project.in_mode(KeyMode::Live), unknown),
    ];
    for (project_mode, id) in absent {
        assert_eq!(stores.otps.find(project_mode, id).await.unwrap(), None);
    }
}

/// A new code supersedes the active one of this phone only.
pub async fn issue_supersedes_the_present_code(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let first = scene.issue(scene.make.otp_with(&line, "111111", START)).await;
    let mut bystanders = vec![scene.line()];
    bystanders.extend(scene.elsewhere(&line).await);
    for bystander in &bystanders {
        scene.issued(bystander).await;
    }
    let second = scene.issue(scene.make.otp_with(&line, "222222", START)).await;
    assert_eq!(stored(stores, &first).await.unwrap().state, OtpState::Superseded);
    assert_eq!(stored(stores, &second).await.unwrap().state, OtpState::Active);
    assert_eq!(scene.try_code(&line, "111111").await, Answer::Wrong);
    assert_eq!(scene.try_code(&line, "222222").await, Answer::Accepted);
    assert_eq!(stored(stores, &second).await.unwrap().state, OtpState::Used);
    for bystander in &bystanders {
        assert!(scene.try_code(bystander, CODE).await == Answer::Accepted);
    }
}

/// A new code works after the last one was locked, used or expired; a used one stays used.
pub async fn issue_works_whatever_became_of_the_last_code(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let locked = scene.issued(&line).await;
    for _ in 0..locked.max_wrong {
        scene.try_code(&line, WRONG_CODE).await;
    }
    let used = scene.issued(&line).await;
    assert_eq!(stored(stores, &locked).await.unwrap().state, OtpState::Superseded);
    assert_eq!(scene.try_code(&line, CODE).await, Answer::Accepted);

    let expired = scene.issued(&line).await;
    assert_eq!(stored(stores, &used).await.unwrap().state, OtpState::Used);
    let late = expired.expires_at + seconds(1);
    let last = scene.issue(scene.make.otp_with(&line, CODE, late)).await;
    let attempt = scene.try_at(&line, CODE, GuessPolicy::OFF, late).await;
    assert_eq!(attempt, Answer::Accepted);
    assert_eq!(stored(stores, &last).await.unwrap().state, OtpState::Used);
}

/// After any number of concurrent codes for one phone one is in force, and it works.
pub async fn many_issues_leave_one_code_in_force(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let otp = |number| scene.make.otp_with(&line, &format!("{:06}", 200_000 + number), START);
        let otps: Vec<_> = (0..60).map(otp).collect();
        race(otps.len(), |number| {
            let (store, otp) = (Arc::clone(&stores.logins), otps[number].clone());
            let send = scene.make.new_send_of(otp);
            async move { store.prepare(send, START).await.unwrap() }
        })
        .await;
        let mut states = Vec::new();
        for otp in &otps {
            states.push(stored(stores, otp).await.unwrap());
        }
        assert_eq!(count(&states, |otp| otp.in_force(START)), 1);
        assert_eq!(count(&states, |otp| otp.state == OtpState::Superseded), otps.len() - 1);
        let winner = states.iter().position(|otp| otp.in_force(START)).unwrap();
        let code = format!("{:06}", 200_000 + winner);
        assert_eq!(scene.try_code(&line, &code).await, Answer::Accepted);
    }
}
