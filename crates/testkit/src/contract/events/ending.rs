use super::LEASE;
use crate::contract::ROUNDS;
use crate::scene::{Scene, stored_session};
use crate::{MS, START, Stores, race, seconds};
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{KeyMode, Timestamp};
use dwar_session::{Rotation, RotationPolicy, Session};
use std::sync::Arc;

const POLICY: RotationPolicy = RotationPolicy { leeway: seconds(10), replay: LEASE };

const fn revoked(session: &Session, at: Timestamp) -> Event {
    let subject = Subject::Session { session: session.id, identity: session.identity };
    let (project_mode, kind) = (session.project_mode, EventKind::SessionRevoked);
    Event { project_mode, kind, subject, at }
}

impl Scene {
    async fn log_out(&self, session: &Session, now: Timestamp) -> bool {
        let token = session.access.token;
        self.stores.sessions.revoke(session.clone(), token, now).await.unwrap()
    }

    /// Presents the first refresh token of the session.
    async fn refresh(&self, session: &Session, now: Timestamp) -> Rotation {
        let (presented, next) = (self.make.presented(session), self.make.successor(session, now));
        let (sessions, place) = (&self.stores.sessions, session.project_mode);
        let seen = stored_session(&self.stores, place, session.id).await.unwrap();
        sessions.rotate(seen, presented, next, POLICY, now).await.unwrap().unwrap()
    }
}

/// Fresh: a logout is recorded if it ended the session, in both modes.
pub async fn a_logout_is_recorded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    for mode in [KeyMode::Live, KeyMode::Test] {
        let session = scene.told_session(&scene.make.line(scene.project.in_mode(mode))).await;
        let (now, over) = (START + seconds(1), session.access.expires_at);
        assert!(!scene.log_out(&session, over).await);
        assert_eq!(scene.told().await, []);
        assert!(scene.log_out(&session, now).await);
        assert!(!scene.log_out(&session, now + MS).await);
        assert_eq!(scene.told_events().await, [revoked(&session, now)]);
    }
}

/// Fresh: an end by an operator is recorded like a logout, once per session.
pub async fn an_end_by_an_operator_is_recorded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    let line = scene.line();
    let now = START + seconds(1);
    let (one, other) = (scene.told_session(&line).await, scene.told_session(&line).await);
    let sessions = &stores.console.identity_sessions;
    let end_one = || sessions.end_one(one.project_mode, one.identity, one.id, now);
    assert!(end_one().await.unwrap());
    assert!(!end_one().await.unwrap());
    assert_eq!(scene.told_events().await, [revoked(&one, now)]);
    let end_all = || sessions.end_all(one.project_mode, one.identity, now + MS);
    assert_eq!(end_all().await.unwrap(), 1);
    assert_eq!(end_all().await.unwrap(), 0);
    assert_eq!(scene.told_events().await, [revoked(&other, now + MS)]);
}

/// Fresh: a refresh token that is used again ends its session, and that is recorded; a refused refresh, or
/// one of an ended session, is not.
pub async fn a_theft_is_recorded(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    let session = scene.told_session(&scene.line()).await;
    assert_eq!(scene.refresh(&session, START).await, Rotation::Rotated);
    let end = START + POLICY.leeway;
    assert_eq!(scene.refresh(&session, end).await, Rotation::Refused);
    assert_eq!(scene.told().await, []);
    assert_eq!(scene.refresh(&session, end + MS).await, Rotation::Reused);
    assert_eq!(scene.refresh(&session, end + MS * 2).await, Rotation::Refused);
    assert_eq!(scene.told_events().await, [revoked(&session, end + MS)]);

    let over = scene.told_session(&scene.line()).await;
    assert_eq!(scene.refresh(&over, START).await, Rotation::Rotated);
    assert_eq!(scene.refresh(&over, over.expires_at).await, Rotation::Refused);
    assert_eq!(scene.told().await, []);
}

/// Fresh: of many concurrent logouts and thefts only the one that ended the session is recorded.
pub async fn logouts_at_once_are_recorded_once(stores: &Stores) {
    let scene = Scene::open(stores).await;
    scene.endpoint().await;
    for _ in 0..ROUNDS {
        let mut session = scene.told_session(&scene.line()).await;
        let (presented, next) =
            (scene.make.presented(&session), scene.make.successor(&session, START));
        let (seen, sessions) = (session.clone(), &stores.sessions);
        session.rotate(&presented, next.clone(), POLICY, START);
        sessions.rotate(seen, presented.clone(), next, POLICY, START).await.unwrap();
        let now = START + POLICY.leeway + MS;
        let answers = race(40, |number| {
            let (store, session) = (Arc::clone(&stores.sessions), session.clone());
            let (presented, next) = (presented.clone(), scene.make.successor(&session, now));
            async move {
                if number % 2 == 0 {
                    let token = session.access.token;
                    return store.revoke(session, token, now).await.unwrap();
                }
                let answer = store.rotate(session, presented, next, POLICY, now).await;
                answer.unwrap() == Some(Rotation::Reused)
            }
        })
        .await;
        assert_eq!(answers.into_iter().filter(|ended| *ended).count(), 1);
        assert_eq!(scene.told_events().await, [revoked(&session, now)]);
    }
}
