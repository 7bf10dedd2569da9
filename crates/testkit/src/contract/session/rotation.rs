use super::{POLICY, bare, stored};
use crate::contract::{CROWD, ROUNDS, count};
use crate::scene::Scene;
use crate::{MS, START, Stores, race, seconds};
use dwar_kernel::KeyMode;
use dwar_session::{Presented, Replay, Rotation, Session, Successor};
use std::sync::Arc;

/// The present token is exchanged: the old pair no longer counts, the new one does.
pub async fn rotate_exchanges_the_pair(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let (old, now) = (session.access.token, START + seconds(1));
    for _ in 0..3 {
        let present = session.refresh;
        assert_eq!(scene.rotate(&mut session, present, now).await, Rotation::Rotated);
    }
    let on_record = stored(stores, &session).await.unwrap();
    assert!(!on_record.honours(old, now));
    assert!(on_record.honours(session.access.token, now));
}

/// A token that no line of this project and mode has is `None`, and nothing changes.
pub async fn rotate_stays_inside_project_and_mode(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let session = scene.session(&scene.line()).await;
    let other = scene.another().await;
    let absent = [
        (other, KeyMode::Live, session.refresh),
        (scene.project, KeyMode::Test, session.refresh),
        (scene.project, KeyMode::Live, scene.make.digest()),
    ];
    for (project, mode, refresh) in absent {
        let next = scene.make.successor(&session, START);
        let answer = stores.sessions.rotate(project, mode, bare(refresh), next, POLICY, START);
        assert_eq!(answer.await.unwrap(), None);
    }
    assert_eq!(stored(stores, &session).await, Some(session));
}

/// The predecessor is refused inside the leeway and ends the session right after it.
pub async fn the_leeway_ends_at_the_exact_instant(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let first = session.refresh;
    scene.rotate(&mut session, first, START).await;
    let end = START + POLICY.leeway;
    assert_eq!(scene.rotate(&mut session, first, end).await, Rotation::Refused);
    assert_eq!(scene.rotate(&mut session, first, end + MS).await, Rotation::Reused);
    assert_eq!(stored(stores, &session).await.unwrap().revoked_at, Some(end + MS));
    let present = session.refresh;
    assert_eq!(scene.rotate(&mut session, present, end + MS).await, Rotation::Refused);
}

/// A token older than the immediate predecessor ends the session at once.
pub async fn an_older_token_ends_the_session(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let bystander = scene.session(&scene.line()).await;
    let first = session.refresh;
    for _ in 0..3 {
        let present = session.refresh;
        scene.rotate(&mut session, present, START).await;
    }
    assert_eq!(scene.rotate(&mut session, first, START).await, Rotation::Reused);
    assert!(!stored(stores, &session).await.unwrap().is_alive(START));
    assert_eq!(stored(stores, &bystander).await, Some(bystander));
}

/// The same request gets the same pair again until the replay window closes.
pub async fn the_same_key_gets_the_same_pair_again(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let (refresh, key, answer) = (session.refresh, scene.make.digest(), scene.make.sealed());
    let presented = |key| Presented { refresh, key };
    let next = |session: &Session, key, answer| Successor {
        replay: Some(Replay { key, answer }),
        ..scene.make.successor(session, START)
    };
    let first = next(&session, key, answer.clone());
    let rotation = scene.rotate_with(&mut session, presented(Some(key)), first, START).await;
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

/// A refresh token and a session end at the exact instant.
pub async fn rotate_keeps_the_exact_instants(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let (refresh, end) = (session.refresh, session.refresh_expires_at);
    assert_eq!(scene.rotate(&mut session, refresh, end).await, Rotation::Refused);
    assert_eq!(scene.rotate(&mut session, refresh, end - MS).await, Rotation::Rotated);

    let line = scene.line();
    let identity = scene.identity(&line).await;
    let expires_at = START + seconds(5);
    let mut session = Session { expires_at, ..scene.make.session(&line, identity) };
    stores.sessions.start(session.clone()).await.unwrap();
    let refresh = session.refresh;
    assert_eq!(scene.rotate(&mut session, refresh, expires_at).await, Rotation::Refused);
    assert_eq!(scene.rotate(&mut session, refresh, expires_at - MS).await, Rotation::Rotated);
}

/// Of two hundred refreshes with one token at once exactly one rotates, and its pair counts.
pub async fn refreshes_at_once_rotate_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let session = scene.session(&scene.line()).await;
        let next: Vec<_> = (0..CROWD).map(|_| scene.make.successor(&session, START)).collect();
        let answers = race(CROWD, |number| {
            let (store, next) = (Arc::clone(&stores.sessions), next[number].clone());
            let (project, mode, presented) =
                (session.project, session.mode, bare(session.refresh));
            async move { store.rotate(project, mode, presented, next, POLICY, START).await.unwrap() }
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

/// Of many refreshes at once with the same key one rotates and the others get its answer.
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
            let (project, mode) = (session.project, session.mode);
            let presented = Presented { refresh: session.refresh, key: Some(key) };
            async move { store.rotate(project, mode, presented, next, POLICY, START).await.unwrap() }
        })
        .await;
        let rotated = |answer: &Option<Rotation>| *answer == Some(Rotation::Rotated);
        assert_eq!(count(&answers, rotated), 1);
        let winner = &next[answers.iter().position(rotated).unwrap()];
        let replayed = Some(Rotation::Replayed(winner.replay.clone().unwrap().answer));
        assert_eq!(count(&answers, |answer| *answer == replayed), next.len() - 1);
    }
}
