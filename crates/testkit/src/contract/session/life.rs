use super::stored;
use crate::scene::Scene;
use crate::{MS, START, Stores, minutes};
use dwar_kernel::{KeyMode, SessionId};
use dwar_session::{Session, Started};

/// A session is found again exactly as it was started; to start it again changes nothing.
pub async fn start_keeps_everything(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let session = scene.session(&line).await;
    assert_eq!(stored(stores, &session).await.as_ref(), Some(&session));
    let other = Session { id: session.id, ..scene.make.session(&line, session.identity) };
    assert_eq!(stores.sessions.start(other).await.unwrap(), Started::Started);
    assert_eq!(stored(stores, &session).await.as_ref(), Some(&session));

    let second = scene.session(&line).await;
    assert_eq!(second.identity, session.identity);
    assert_eq!(stored(stores, &session).await, Some(session));
    assert_eq!(stored(stores, &second).await, Some(second));
}

/// Without its identity, in its own project and mode, a session is not put on record.
pub async fn start_needs_the_identity(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let unknown = scene.make.session(&line, scene.make.id());
    let identity = scene.identity(&line).await;
    let mut lost: Vec<_> = scene.elsewhere(&line).await.to_vec();
    lost.push(line.clone());
    let known = lost.iter().map(|line| scene.make.session(line, identity));
    let lost: Vec<_> = known.chain([unknown]).collect();
    let elsewhere = lost.len() - 2;
    for (number, session) in lost.into_iter().enumerate() {
        if number == elsewhere {
            stores.identities.erase(line.project, line.mode, identity, START).await.unwrap();
        }
        let started = stores.sessions.start(session.clone()).await.unwrap();
        assert_eq!(started, Started::IdentityGone);
        assert_eq!(stored(stores, &session).await, None);
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
    }
    let unknown = Session { id: scene.make.id::<SessionId>(), ..session.clone() };
    assert_eq!(stored(stores, &unknown).await, None);
}

/// Fresh: a sweep drops sessions that ended before the instant, and no other.
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
    }
    for session in kept {
        assert_eq!(stored(stores, &session).await, Some(session));
    }
}
