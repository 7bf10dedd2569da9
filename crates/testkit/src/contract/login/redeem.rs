use super::OnRecord;
use crate::contract::{ROUNDS, count};
use crate::scene::{Scene, stored_session};
use crate::{CODE, START, Stores, WRONG_CODE, race, seconds};
use dwar_kernel::IdentityId;
use dwar_login::Redeemed;
use dwar_otp::{GuessPolicy, GuessVerdict, Otp, OtpState};
use dwar_session::Session;
use std::sync::Arc;

async fn stored(stores: &Stores, session: &Session) -> Option<Session> {
    stored_session(stores, session.project_mode, session.id).await
}

const fn identity_of(redeemed: &Redeemed) -> Option<IdentityId> {
    match redeemed {
        Redeemed::LoggedIn(_, identity, _) => Some(*identity),
        _ => None,
    }
}

/// Exactly one of sixty concurrent right guesses logs in: afterwards there are one identity, one session and
/// a used code.
pub async fn right_guesses_at_once_log_in_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for is_known in [false, true].repeat(ROUNDS) {
        let line = scene.line();
        let mut known = None;
        if is_known {
            known = Some(scene.session(&line).await);
        }
        let otp = scene.issued(&line).await;
        let logins: Vec<_> = (0..60).map(|_| scene.make.redemption(&line, CODE)).collect();
        let answers = race(logins.len(), |number| {
            let (store, login) = (Arc::clone(&stores.logins), logins[number].clone());
            async move { store.redeem(login, START + seconds(1)).await.unwrap() }
        })
        .await;
        let winner = answers.iter().position(|answer| identity_of(answer).is_some()).unwrap();
        assert_eq!(count(&answers, |answer| *answer == Redeemed::NotFound), answers.len() - 1);
        let on_record = OnRecord::of(stores, &line).await;
        let identity = identity_of(&answers[winner]).unwrap();
        assert_eq!(on_record.identity.as_ref().map(|found| found.id), Some(identity));
        let first = logins[winner].session().unwrap();
        let wanted = known.as_ref().map_or(first.identity, |session| session.identity);
        assert_eq!(identity, wanted);
        assert_eq!(on_record.sessions.len(), 1 + usize::from(is_known));
        for (number, login) in logins.iter().enumerate() {
            let session = Session { identity, ..login.session().unwrap().clone() };
            let wanted = (number == winner).then_some(session);
            assert_eq!(stored(stores, login.session().unwrap()).await, wanted);
        }
        assert_eq!(on_record.request(otp.id).state, OtpState::Used);
    }
}

/// Exactly one of sixty concurrent right guesses, half of them checks, is accepted. If it is a check, the
/// code is used up and no session begins.
pub async fn a_check_uses_the_code_up_and_begins_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let otp = scene.issued(&line).await;
        let answers = race(60, |number| {
            let guess = match number % 2 {
                0 => scene.make.check(&line, CODE),
                _ => scene.make.redemption(&line, CODE),
            };
            let store = Arc::clone(&stores.logins);
            async move { store.redeem(guess, START + seconds(1)).await.unwrap() }
        })
        .await;
        assert_eq!(count(&answers, |answer| *answer == Redeemed::NotFound), answers.len() - 1);
        let logged_in = count(&answers, |answer| identity_of(answer).is_some());
        let on_record = OnRecord::of(stores, &line).await;
        assert_eq!(on_record.sessions.len(), logged_in);
        assert_eq!(usize::from(on_record.identity.is_some()), logged_in);
        assert_eq!(on_record.request(otp.id).state, OtpState::Used);
    }
    let line = scene.line();
    let otp = scene.issued(&line).await;
    for left in (0..otp.max_wrong).rev() {
        let wrong = scene.make.check(&line, WRONG_CODE);
        let redeemed = stores.logins.redeem(wrong, START).await.unwrap();
        assert!(matches!(redeemed, Redeemed::Wrong(allowance) if allowance.remaining == left));
    }
    let right = stores.logins.redeem(scene.make.check(&line, CODE), START).await.unwrap();
    assert!(matches!(right, Redeemed::Locked(_)), "{right:?}");
    let line = scene.line();
    scene.issued(&line).await;
    let right = stores.logins.redeem(scene.make.check(&line, CODE), START).await.unwrap();
    assert!(matches!(right, Redeemed::Verified(..)), "{right:?}");
    let on_record = OnRecord::of(stores, &line).await;
    assert_eq!((on_record.identity, on_record.sessions), (None, vec![]));
}

/// A wrong guess begins no session, nor does the right one once the code is locked.
pub async fn a_guess_that_is_not_accepted_begins_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let otp = scene.issued(&line).await;
    for number in 1..=otp.max_wrong + 2 {
        let code = if number > otp.max_wrong { CODE } else { WRONG_CODE };
        let login = scene.make.redemption(&line, code);
        let redeemed = stores.logins.redeem(login.clone(), START).await.unwrap();
        let is_locked = matches!(redeemed, Redeemed::Locked(_));
        assert_eq!(is_locked, number > otp.max_wrong, "{number}: {redeemed:?}");
        let on_record = OnRecord::of(stores, &line).await;
        assert_eq!((on_record.identity, on_record.sessions), (None, vec![]), "{number}");
        assert_eq!(stored(stores, login.session().unwrap()).await, None, "{number}");
        assert_eq!(on_record.requests[0].wrong, number.min(otp.max_wrong));
    }
}

/// The right code of a phone begins no session in the other mode or in another project.
pub async fn a_login_stays_inside_project_and_mode(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    scene.issued(&line).await;
    let elsewhere = scene.elsewhere(&line).await;
    for other in &elsewhere {
        let login = scene.make.redemption(other, CODE);
        let redeemed = stores.logins.redeem(login.clone(), START).await.unwrap();
        assert_eq!(redeemed, Redeemed::NotFound);
        let on_record = OnRecord::of(stores, other).await;
        assert_eq!((on_record.identity, on_record.sessions), (None, vec![]));
        assert_eq!(stored(stores, login.session().unwrap()).await, None);
    }
    let mut identities = vec![scene.identity(&line).await];
    for other in &elsewhere {
        identities.push(scene.identity(other).await);
    }
    for (number, other) in [&line, &elsewhere[0], &elsewhere[1]].into_iter().enumerate() {
        let on_record = OnRecord::of(stores, other).await;
        assert_eq!(on_record.identity.map(|found| found.id), Some(identities[number]));
        assert_eq!(on_record.sessions.len(), 1);
        assert!(!identities[..number].contains(&identities[number]));
    }
}

/// A login that is repeated because its answer was lost, also many times concurrently, happens
/// once: one session, one guess, one identity. Every answer is the first one, or says that there is
/// no code.
pub async fn a_repeated_login_is_made_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for at_once in [1, 20].repeat(ROUNDS) {
        let line = scene.line();
        scene.issued(&line).await;
        let (login, now) = (scene.make.redemption(&line, CODE), START + seconds(1));
        let mut answers = race(at_once, |_| {
            let (store, login) = (Arc::clone(&stores.logins), login.clone());
            async move { store.redeem(login, now).await.unwrap() }
        })
        .await;
        let on_record = OnRecord::of(stores, &line).await;
        for _ in 0..2 {
            answers.push(stores.logins.redeem(login.clone(), now).await.unwrap());
        }
        let first = answers.iter().find(|answer| identity_of(answer).is_some()).unwrap();
        assert_eq!(identity_of(first), on_record.identity.as_ref().map(|found| found.id));
        let one_answer = |answer: &Redeemed| [Redeemed::NotFound, *first].contains(answer);
        assert_eq!(count(&answers, one_answer), answers.len(), "{answers:?}");
        assert_eq!(OnRecord::of(stores, &line).await, on_record);
        assert_eq!(on_record.sessions, [login.login.unwrap().session]);
        assert_eq!(on_record.requests[0].guesses, [now]);
    }
}

/// Under concurrent logins and erasures of an identity, no session of the erased identity is left, and no
/// code is used up without its session.
pub async fn no_code_is_used_in_vain_beside_an_erasure(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for round in 0..ROUNDS * 5 {
        let line = scene.line();
        let erased = scene.session(&line).await;
        let present = scene.issued(&line).await;
        let fresh: Vec<Otp> = (0..12).map(|_| scene.make.otp(&line)).collect();
        let logins: Vec<_> = (0..12).map(|_| scene.make.redemption(&line, CODE)).collect();
        let erasing = round % 12;
        let answers = race(12, |number| {
            let (stores, mut login) = (stores.clone(), logins[number].clone());
            let send = scene.make.new_send_of(fresh[number].clone());
            let (project_mode, id) = (line.project_mode, erased.identity);
            let wanted = if number % 3 == 0 { present.id } else { send.otp.id };
            login.guess = login.guess.meant_for(Some(wanted));
            async move {
                if number == erasing {
                    let gone = stores.identities.erase(project_mode, id, START).await.unwrap();
                    assert!(gone.is_some());
                    return Redeemed::NotFound;
                }
                if number % 3 != 0 {
                    stores.logins.prepare(send, START).await.unwrap();
                }
                stores.logins.redeem(login, START).await.unwrap()
            }
        })
        .await;
        assert_eq!(stored(stores, &erased).await, None);
        let on_record = OnRecord::of(stores, &line).await;
        let now = on_record.identity.as_ref().map(|found| found.id);
        assert_ne!(now, Some(erased.identity));
        let mut kept = 0;
        for (answer, login) in answers.iter().zip(&logins) {
            let Some(session) = stored(stores, login.session().unwrap()).await else { continue };
            assert_eq!(identity_of(answer), Some(session.identity));
            assert_eq!(now, Some(session.identity));
            kept += 1;
        }
        assert_eq!(count(&on_record.requests, |otp| otp.state == OtpState::Used), kept);
        assert_eq!(on_record.sessions.len(), kept);
    }
}

/// After concurrent sends and right guesses of one phone there are as many sessions as logins, all of one
/// identity, and as many used codes.
pub async fn sends_and_logins_at_once_match(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let line = scene.line();
        let answers = race(40, |_| {
            let (store, send) = (Arc::clone(&stores.logins), scene.make.new_send(&line));
            let login = scene.make.redemption(&line, CODE);
            async move {
                store.prepare(send, START).await.unwrap();
                store.redeem(login, START).await.unwrap()
            }
        })
        .await;
        let on_record = OnRecord::of(stores, &line).await;
        let id = on_record.identity.as_ref().map(|found| found.id);
        let logged_in = count(&answers, |answer| identity_of(answer).is_some());
        assert!(logged_in > 0, "the last code was in force");
        assert_eq!(count(&answers, |answer| id.is_some() && identity_of(answer) == id), logged_in);
        assert_eq!(on_record.sessions.len(), logged_in);
        assert_eq!(count(&on_record.requests, |otp| otp.state == OtpState::Used), logged_in);
        let verdict = scene.judge(&line, CODE, GuessPolicy::OFF, START).await;
        assert_eq!(verdict, GuessVerdict::NotFound);
    }
}
