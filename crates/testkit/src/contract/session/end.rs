use super::{POLICY, stored};
use crate::contract::{ROUNDS, count};
use crate::scene::Scene;
use crate::{MS, START, Stores, race, seconds};
use dwar_kernel::{KeyMode, SessionId, Timestamp, TokenId};
use dwar_session::{Rotation, Session};
use std::sync::Arc;

impl Scene {
    async fn revoke(&self, session: &Session, token: TokenId, now: Timestamp) -> bool {
        self.stores.sessions.revoke(session.clone(), token, now).await.unwrap()
    }
}

/// Neither token of a revoked session works; a session is revoked once.
pub async fn revoke_ends_both_tokens(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let (mut session, bystander) = (scene.session(&line).await, scene.session(&line).await);
    let now = START + seconds(1);
    assert!(scene.revoke(&session, session.access.token, now).await);
    session.revoked_at = Some(now);
    assert_eq!(stored(stores, &session).await.as_ref(), Some(&session));
    assert!(!scene.revoke(&session, session.access.token, now).await);
    let presented = scene.make.presented(&session);
    assert_eq!(scene.rotate(&mut session, presented, now).await, Rotation::Refused);
    assert_eq!(stored(stores, &bystander).await, Some(bystander));
}

/// Only the valid access token, while it is valid, ends the session.
pub async fn revoke_asks_for_the_token_that_counts(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut session = scene.session(&scene.line()).await;
    let superseded = session.access.token;
    scene.rotate_often(&mut session, [START]).await;
    let (current, end) = (session.access.token, session.access.expires_at);
    assert!(!scene.revoke(&session, superseded, START).await);
    assert!(!scene.revoke(&session, scene.make.id(), START).await);
    assert!(!scene.revoke(&session, current, end).await);
    assert_eq!(stored(stores, &session).await.as_ref(), Some(&session));
    assert!(scene.revoke(&session, current, end - MS).await);
}

/// A session is revoked only from its own project and mode.
pub async fn revoke_stays_inside_project_and_mode(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let session = scene.session(&scene.line()).await;
    let strangers = [
        Session {
            project_mode: scene.another().await.in_mode(session.project_mode.mode),
            ..session.clone()
        },
        Session {
            project_mode: session.project_mode.project.in_mode(KeyMode::Test),
            ..session.clone()
        },
        Session { id: scene.make.id::<SessionId>(), ..session.clone() },
    ];
    for stranger in strangers {
        assert!(!scene.revoke(&stranger, session.access.token, START).await);
    }
    assert_eq!(stored(stores, &session).await, Some(session));
}

/// Exactly one of many concurrent logouts ends the session.
pub async fn logouts_at_once_revoke_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for _ in 0..ROUNDS {
        let session = scene.session(&scene.line()).await;
        let answers = race(50, |_| {
            let (store, session) = (Arc::clone(&stores.sessions), session.clone());
            async move {
                let token = session.access.token;
                store.revoke(session, token, START).await.unwrap()
            }
        })
        .await;
        assert_eq!(count(&answers, |revoked| *revoked), 1);
    }
}

/// A refresh concurrent with the logout does not keep the session alive; if the refresh came first, the token
/// of the logout is no longer valid.
pub async fn no_refresh_survives_a_logout(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for round in 0..ROUNDS * 5 {
        let session = scene.session(&scene.line()).await;
        let next: Vec<_> = (0..10).map(|_| scene.make.successor(&session, START)).collect();
        let logout = round % next.len();
        let answers = race(next.len(), |number| {
            let (store, next) = (Arc::clone(&stores.sessions), next[number].clone());
            let (seen, presented) = (session.clone(), scene.make.presented(&session));
            async move {
                if number == logout {
                    let token = seen.access.token;
                    return store.revoke(seen, token, START).await.unwrap();
                }
                let answer = store.rotate(seen, presented, next, POLICY, START).await;
                answer.unwrap() == Some(Rotation::Rotated)
            }
        })
        .await;
        // Exactly one of all calls succeeded: the logout, or one refresh.
        assert_eq!(count(&answers, |done| *done), 1);
        let on_record = stored(stores, &session).await.unwrap();
        assert_eq!(on_record.is_alive(START), !answers[logout]);
    }
}
