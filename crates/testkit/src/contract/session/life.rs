use super::stored;
use crate::scene::{Scene, stored_session};
use crate::{MS, START, Stores, minutes};
use dwar_kernel::{KeyMode, SessionId};
use dwar_session::Session;

/// A session is read exactly as it was started, also after later logins.
pub async fn start_keeps_everything(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let session = scene.session(&line).await;
    assert_eq!(stored(stores, &session).await.as_ref(), Some(&session));
    let second = scene.session(&line).await;
    assert_eq!(second.identity, session.identity);
    assert_eq!(stored(stores, &session).await, Some(session));
    assert_eq!(stored(stores, &second).await, Some(second));
}

/// A session is found only with a key of its own project and mode.
pub async fn seek_stays_inside_project_and_mode(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let session = scene.session(&scene.line()).await;
    let other = scene.another().await;
    for project_mode in [other.in_mode(KeyMode::Live), scene.project.in_mode(KeyMode::Test)] {
        assert_eq!(stored_session(stores, project_mode, session.id).await, None);
    }
    let unknown = Session { id: scene.make.id::<SessionId>(), ..session.clone() };
    assert_eq!(stored(stores, &unknown).await, None);
}

/// A key in force is found with a session, with an unknown session and without one; a replaced or unknown key
/// never is.
pub async fn seek_knows_keys_in_force_alone(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let session = scene.session(&scene.line()).await;
    let keys = stores.projects.keys(scene.project).await.unwrap();
    for key in &keys {
        for named in [None, Some(scene.make.id()), Some(session.id)] {
            let caller =
                stores.sessions.find_key_and_session(key.digest, named).await.unwrap().unwrap();
            assert_eq!(
                (caller.key, caller.project_mode),
                (key.id, scene.project.in_mode(key.mode))
            );
            let theirs = named == Some(session.id) && key.mode == session.project_mode.mode;
            assert_eq!(caller.session.is_some(), theirs);
        }
    }
    assert_eq!(
        stores.sessions.find_key_and_session(scene.make.digest(), Some(session.id)).await.unwrap(),
        None
    );
    let fresh = scene.make.key(session.project_mode.mode);
    assert!(stores.projects.replace_key(scene.project, fresh.clone()).await.unwrap());
    let replaced = keys.iter().find(|key| key.mode == session.project_mode.mode).unwrap();
    assert_eq!(
        stores.sessions.find_key_and_session(replaced.digest, Some(session.id)).await.unwrap(),
        None
    );
    let caller = stores
        .sessions
        .find_key_and_session(fresh.digest, Some(session.id))
        .await
        .unwrap()
        .unwrap();
    assert_eq!((caller.key, caller.session), (fresh.id, Some(session)));
}

/// Fresh: a sweep deletes sessions that ended before the instant, and no other.
pub async fn sweep_drops_ended_sessions(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let identity = scene.identity(&line).await;
    // Removes the sessions of logging in to the identity.
    stores.sessions.sweep(START + minutes(365 * 24 * 60)).await.unwrap();
    let instant = START + minutes(60);
    let ending = |expires_at| Session {
        expires_at,
        refresh_expires_at: expires_at,
        ..scene.make.session(&line, identity)
    };
    let start = async |session: Session| scene.log_in(&line, session).await;
    let revoke = async |session: Session, at| {
        let token = session.access.token;
        let revoked = stores.sessions.revoke(session.clone(), token, at).await.unwrap();
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
