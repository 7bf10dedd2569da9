use super::stored;
use crate::scene::Scene;
use crate::{MS, START, Stores, minutes, seconds};
use dwar_kernel::{KeyMode, SessionId};
use dwar_session::{Predecessor, Replay, Session, Started};

/// A session is found again exactly as it was started, by id and by refresh token.
pub async fn start_keeps_everything(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let session = scene.session(&line).await;
    assert_eq!(stored(stores, &session).await.as_ref(), Some(&session));
    let found = scene.by_refresh(&session, session.refresh).await;
    assert_eq!(found.as_ref(), Some(&session));

    let second = scene.session(&line).await;
    assert_eq!(second.identity, session.identity);
    assert_eq!(stored(stores, &session).await, Some(session));
    assert_eq!(stored(stores, &second).await, Some(second));
}

/// Without its identity a session is not put on record.
pub async fn start_needs_the_identity(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let unknown = scene.make.session(&line, scene.make.id());
    let identity = scene.identity(&line).await;
    let erased = scene.make.session(&line, identity);
    stores.identities.erase(line.project, line.mode, identity, START).await.unwrap();
    for session in [unknown, erased] {
        let started = stores.sessions.start(session.clone()).await.unwrap();
        assert_eq!(started, Started::IdentityGone);
        assert_eq!(stored(stores, &session).await, None);
        assert_eq!(scene.by_refresh(&session, session.refresh).await, None);
    }
}

/// A session is found in its own project and mode only.
pub async fn find_stays_inside_project_and_mode(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let session = scene.session(&scene.line()).await;
    let other = scene.another().await;
    for (project, mode) in [(other, KeyMode::Live), (scene.project, KeyMode::Test)] {
        let sessions = &stores.sessions;
        assert_eq!(sessions.find(project, mode, session.id).await.unwrap(), None);
        let found = sessions.find_by_refresh(project, mode, session.refresh).await.unwrap();
        assert_eq!(found, None);
    }
    let unknown = Session { id: scene.make.id::<SessionId>(), ..session.clone() };
    assert_eq!(stored(stores, &unknown).await, None);
    assert_eq!(scene.by_refresh(&session, scene.make.digest()).await, None);
}

/// Every refresh token a session ever had leads to it.
pub async fn every_token_of_the_line_leads_to_the_session(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let mut line = vec![session.refresh];
    for second in 1..=3 {
        scene.rotate(&mut session, line[line.len() - 1], START + seconds(second)).await;
        line.push(session.refresh);
    }
    for refresh in line {
        assert_eq!(scene.by_refresh(&session, refresh).await.as_ref(), Some(&session));
    }
}

/// Fresh: a sweep drops sessions that ended before the instant, with their tokens, and no other.
pub async fn sweep_drops_ended_sessions(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let identity = scene.identity(&line).await;
    let instant = START + minutes(60);
    let ending = |expires_at| Session {
        expires_at,
        refresh_expires_at: expires_at,
        ..scene.make.session(&line, identity)
    };
    let start = async |session: Session| {
        assert_eq!(stores.sessions.start(session.clone()).await.unwrap(), Started::Started);
        session
    };
    let revoke = async |session: Session, at| {
        let (id, token) = (session.id, session.access.token);
        let revoked = stores.sessions.revoke(line.project, line.mode, id, token, at).await.unwrap();
        assert!(revoked);
        Session { revoked_at: Some(at), ..session }
    };
    let lasting = || Session {
        access: dwar_session::CurrentAccess {
            expires_at: instant + minutes(60),
            ..scene.make.access(START)
        },
        ..scene.make.session(&line, identity)
    };
    let gone =
        [start(ending(instant - MS)).await, revoke(start(lasting()).await, instant - MS).await];
    let kept = [
        start(ending(instant)).await,
        revoke(start(lasting()).await, instant).await,
        start(lasting()).await,
    ];
    assert_eq!(stores.sessions.sweep(instant - MS).await.unwrap(), 0);
    assert_eq!(stores.sessions.sweep(instant).await.unwrap(), 2);
    assert_eq!(stores.sessions.sweep(instant).await.unwrap(), 0);
    for session in gone {
        assert_eq!(stored(stores, &session).await, None);
        assert_eq!(scene.by_refresh(&session, session.refresh).await, None);
    }
    for session in kept {
        assert_eq!(stored(stores, &session).await, Some(session));
    }
}

/// An exchanged token stays on record with what it takes to answer its request again.
pub async fn rotate_keeps_the_predecessor_and_its_answer(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let mut session = scene.session(&line).await;
    let (first, key, now) = (session.refresh, scene.make.digest(), START + seconds(1));
    let replay = Replay { key, answer: scene.make.sealed() };
    let presented = dwar_session::Presented { refresh: first, key: Some(key) };
    let next = dwar_session::Successor {
        replay: Some(replay.clone()),
        ..scene.make.successor(&session, now)
    };
    scene.rotate_with(&mut session, presented, next, now).await;
    let predecessor = Predecessor { refresh: first, rotated_at: now, replay: Some(replay) };
    assert_eq!(stored(stores, &session).await.unwrap().predecessor, Some(predecessor));
}
