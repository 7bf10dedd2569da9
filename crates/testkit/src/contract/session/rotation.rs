use super::{POLICY, stored};
use crate::contract::{CROWD, ROUNDS, count};
use crate::scene::Scene;
use crate::{MS, START, Stores, minutes, race, seconds};
use dwar_kernel::KeyMode;
use dwar_session::{PresentedRefreshToken, Replay, Rotation, Session, Successor};
use std::sync::Arc;

/// The current token is exchanged: the old pair is no longer valid, the new one is.
pub async fn rotate_exchanges_the_pair(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let (old, now) = (session.access.token, START + seconds(1));
    scene.rotate_often(&mut session, [now; 3]).await;
    let on_record = stored(stores, &session).await.unwrap();
    assert!(!on_record.honours(old, now));
    assert!(on_record.honours(session.access.token, now));
    assert_eq!(on_record.generation, 3);
}

/// A rotation of a session of another project or mode returns `None` and changes nothing.
pub async fn rotate_stays_inside_project_and_mode(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let session = scene.session(&scene.line()).await;
    let absent = [
        Session {
            project_mode: scene.another().await.in_mode(session.project_mode.mode),
            ..session.clone()
        },
        Session {
            project_mode: session.project_mode.project.in_mode(KeyMode::Test),
            ..session.clone()
        },
        Session { id: scene.make.id(), ..session.clone() },
    ];
    for seen in absent {
        let (presented, next) =
            (scene.make.presented(&session), scene.make.successor(&session, START));
        let answer = stores.sessions.rotate(seen, presented, next, POLICY, START).await;
        assert_eq!(answer.unwrap(), None);
    }
    assert_eq!(stored(stores, &session).await, Some(session));
}

/// A stale view of a session does not decide after it was exchanged, ended or erased.
pub async fn rotate_looks_again_where_the_session_changed(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let seen = scene.session(&scene.line()).await;
    let rotate = async |seen: &Session| {
        let (presented, next) = (scene.make.presented(seen), scene.make.successor(seen, START));
        stores.sessions.rotate(seen.clone(), presented, next, POLICY, START).await.unwrap()
    };
    let mut session = seen.clone();
    scene.rotate_often(&mut session, [START]).await;
    assert_eq!(rotate(&seen).await, Some(Rotation::Refused));
    assert_eq!(stored(stores, &session).await.as_ref(), Some(&session));

    let Session { project_mode, access, identity, .. } = session.clone();
    assert!(stores.sessions.revoke(session.clone(), access.token, START).await.unwrap());
    assert_eq!(rotate(&session).await, Some(Rotation::Refused));
    assert!(!stored(stores, &session).await.unwrap().is_alive(START));

    stores.identities.erase(project_mode, identity, START).await.unwrap();
    assert_eq!(rotate(&session).await, None);
}

/// Repeating an exchange, as after a lost answer, returns the same result and changes nothing; it does not
/// revive an ended session.
pub async fn the_same_exchange_again_changes_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let seen = scene.session(&scene.line()).await;
    let (presented, next) = (scene.make.presented(&seen), scene.make.successor(&seen, START));
    let mut session = seen.clone();
    session.rotate(&presented, next.clone(), POLICY, START);
    let exchange = async || {
        let (seen, presented, next) = (seen.clone(), presented.clone(), next.clone());
        stores.sessions.rotate(seen, presented, next, POLICY, START).await.unwrap()
    };
    for _ in 0..3 {
        assert_eq!(exchange().await, Some(Rotation::Rotated));
        assert_eq!(stored(stores, &session).await.as_ref(), Some(&session));
    }
    let token = session.access.token;
    assert!(stores.sessions.revoke(session.clone(), token, START).await.unwrap());
    assert_eq!(exchange().await, Some(Rotation::Refused));
    assert!(!stored(stores, &session).await.unwrap().is_alive(START));
}

/// A used token is refused up to the leeway after its exchange and ends the session right after it.
pub async fn the_leeway_ends_at_the_exact_instant(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let [first] = &scene.rotate_often(&mut session, [START]).await[..] else { unreachable!() };
    let end = START + POLICY.leeway;
    assert_eq!(scene.rotate(&mut session, first.clone(), end).await, Rotation::Refused);
    assert_eq!(scene.rotate(&mut session, first.clone(), end + MS).await, Rotation::Reused);
    assert_eq!(stored(stores, &session).await.unwrap().revoked_at, Some(end + MS));
    let present = scene.make.presented(&session);
    assert_eq!(scene.rotate(&mut session, present, end + MS).await, Rotation::Refused);
}

/// Three tabs: a token that is presented again within the leeway of its own exchange ends nothing, even if
/// others were exchanged since; later it ends the session, however recent theirs are.
pub async fn a_used_token_is_judged_by_its_own_exchange(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let bystander = scene.session(&scene.line()).await;
    let instants = [START, START, START + seconds(6), START + seconds(12)];
    for (token, own) in instants.into_iter().enumerate() {
        let end = own + POLICY.leeway;
        let mut session = scene.session(&scene.line()).await;
        let used = scene.rotate_often(&mut session, instants).await;
        let [soon, last, late] = [own + MS * 2, end, end + MS];
        assert_eq!(scene.rotate(&mut session, used[token].clone(), soon).await, Rotation::Refused);
        assert_eq!(scene.rotate(&mut session, used[token].clone(), last).await, Rotation::Refused);
        assert!(stored(stores, &session).await.unwrap().is_alive(last));
        assert_eq!(scene.rotate(&mut session, used[token].clone(), late).await, Rotation::Reused);
        assert!(!stored(stores, &session).await.unwrap().is_alive(late));
    }
    assert_eq!(stored(stores, &bystander).await, Some(bystander));
}

/// Of twenty exchanges sixteen instants are kept; the oldest of them counts for all earlier ones.
pub async fn long_lines_are_judged_by_the_oldest_instant_kept(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    for (token, stands_for) in [(0, 4), (3, 4), (4, 4), (5, 5)] {
        let mut session = scene.session(&line).await;
        let used = scene.rotate_often(&mut session, (0..20).map(|n| START + seconds(n))).await;
        let end = START + seconds(stands_for) + POLICY.leeway;
        let token = &used[token];
        assert_eq!(scene.rotate(&mut session, token.clone(), end).await, Rotation::Refused);
        assert_eq!(scene.rotate(&mut session, token.clone(), end + MS).await, Rotation::Reused);
    }
}

/// A token of a higher generation, or another one of the current generation, as after an older backup was
/// restored, is refused and ends nothing.
pub async fn what_was_never_given_out_ends_nothing(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    scene.rotate_often(&mut session, [START; 2]).await;
    let (current, now) = (scene.make.presented(&session), START + minutes(60));
    let unknown = [
        PresentedRefreshToken { generation: 3, ..current.clone() },
        PresentedRefreshToken { generation: u32::MAX, refresh: scene.make.digest(), key: None },
        PresentedRefreshToken { refresh: scene.make.digest(), ..current.clone() },
    ];
    for presented in unknown {
        assert_eq!(scene.rotate(&mut session, presented, now).await, Rotation::Refused);
    }
    assert_eq!(scene.rotate(&mut session, current, now).await, Rotation::Rotated);
}

/// The same request gets the same pair again until the replay window closes.
pub async fn the_same_key_gets_the_same_pair_again(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let (key, answer) = (scene.make.digest(), scene.make.sealed());
    let first = scene.make.presented(&session);
    let presented = |key| PresentedRefreshToken { key, ..first.clone() };
    let next = |session: &Session, key, answer| Successor {
        replay: Some(Replay { key, answer }),
        ..scene.make.successor(session, START)
    };
    let pair = next(&session, key, answer.clone());
    let rotation = scene.rotate_with(&mut session, presented(Some(key)), pair, START).await;
    assert_eq!(rotation, Rotation::Rotated);

    let end = START + POLICY.replay;
    let again = next(&session, key, scene.make.sealed());
    let rotation = scene.rotate_with(&mut session, presented(Some(key)), again, end - MS).await;
    assert_eq!(rotation, Rotation::Replayed(answer));
    for other in [None, Some(scene.make.digest())] {
        let another = scene.make.successor(&session, START);
        let rotation = scene.rotate_with(&mut session, presented(other), another, START).await;
        assert_eq!(rotation, Rotation::Refused);
    }
    let late = next(&session, key, scene.make.sealed());
    let rotation = scene.rotate_with(&mut session, presented(Some(key)), late, end).await;
    assert_eq!(rotation, Rotation::Reused);
}

/// A refresh token and a session expire at the exact instant.
pub async fn rotate_keeps_the_exact_instants(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let (present, end) = (scene.make.presented(&session), session.refresh_expires_at);
    assert_eq!(scene.rotate(&mut session, present.clone(), end).await, Rotation::Refused);
    assert_eq!(scene.rotate(&mut session, present, end - MS).await, Rotation::Rotated);

    let line = scene.line();
    let expires_at = START + seconds(5);
    let session = Session { expires_at, ..scene.make.login(&line).session };
    let mut session = scene.log_in(&line, session).await;
    let present = scene.make.presented(&session);
    assert_eq!(scene.rotate(&mut session, present.clone(), expires_at).await, Rotation::Refused);
    assert_eq!(scene.rotate(&mut session, present, expires_at - MS).await, Rotation::Rotated);
}

/// Exactly one of two hundred concurrent refreshes with one token rotates, and its pair is valid.
pub async fn refreshes_at_once_rotate_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let session = scene.session(&scene.line()).await;
        let next: Vec<_> = (0..CROWD).map(|_| scene.make.successor(&session, START)).collect();
        let answers = race(CROWD, |number| {
            let (store, next) = (Arc::clone(&stores.sessions), next[number].clone());
            let (seen, presented) = (session.clone(), scene.make.presented(&session));
            async move { store.rotate(seen, presented, next, POLICY, START).await.unwrap() }
        })
        .await;
        let rotated = |answer: &Option<Rotation>| *answer == Some(Rotation::Rotated);
        assert_eq!(count(&answers, rotated), 1);
        assert_eq!(count(&answers, |a| *a == Some(Rotation::Refused)), CROWD - 1);
        let winner = &next[answers.iter().position(rotated).unwrap()];
        let on_record = stored(stores, &session).await.unwrap();
        assert_eq!(on_record.refresh, winner.refresh);
        assert!(on_record.honours(winner.access.token, START));
    }
}

/// One of many concurrent refreshes with the same key rotates and the others get its answer.
pub async fn retries_at_once_get_one_pair(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let session = scene.session(&scene.line()).await;
        let key = scene.make.digest();
        let next = |_| Successor {
            replay: Some(Replay { key, answer: scene.make.sealed() }),
            ..scene.make.successor(&session, START)
        };
        let next: Vec<_> = (0..50).map(next).collect();
        let answers = race(next.len(), |number| {
            let (store, next) = (Arc::clone(&stores.sessions), next[number].clone());
            let presented =
                PresentedRefreshToken { key: Some(key), ..scene.make.presented(&session) };
            let seen = session.clone();
            async move { store.rotate(seen, presented, next, POLICY, START).await.unwrap() }
        })
        .await;
        let rotated = |answer: &Option<Rotation>| *answer == Some(Rotation::Rotated);
        assert_eq!(count(&answers, rotated), 1);
        let winner = &next[answers.iter().position(rotated).unwrap()];
        let replayed = Some(Rotation::Replayed(winner.replay.clone().unwrap().answer));
        assert_eq!(count(&answers, |answer| *answer == replayed), next.len() - 1);
    }
}
