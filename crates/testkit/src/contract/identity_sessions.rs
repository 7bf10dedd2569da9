//! Promises of [`dwar_session::IdentitySessions`].

use super::{ROUNDS, count};
use crate::scene::{Scene, stored_session};
use crate::{Line, START, Stores, race, seconds};
use dwar_kernel::{IdentityId, KeyMode, Timestamp};
use dwar_session::{Rotation, RotationPolicy, Session};
use std::sync::Arc;

const POLICY: RotationPolicy = RotationPolicy { leeway: seconds(10), replay: seconds(60) };

impl Scene {
    /// Sessions of one identity that began this many seconds after [`START`](crate::START).
    async fn sessions(&self, line: &Line, began: &[u64]) -> Vec<Session> {
        let mut sessions = Vec::new();
        for later in began {
            let fresh = self.make.login(line).session;
            let session = Session { created_at: START + seconds(*later), ..fresh };
            sessions.push(self.log_in(line, session).await);
        }
        sessions
    }

    async fn of(&self, line: &Line, identity: IdentityId) -> Vec<Session> {
        let sessions = &self.stores.console.identity_sessions;
        sessions.of_identity(line.project_mode, identity, None, 100).await.unwrap()
    }

    async fn end_session(&self, session: &Session, now: Timestamp) -> bool {
        let Session { project_mode, identity, id, .. } = *session;
        self.stores
            .console
            .identity_sessions
            .end_one(project_mode, identity, id, now)
            .await
            .unwrap()
    }

    pub(super) async fn end_sessions(&self, session: &Session, now: Timestamp) -> u64 {
        let Session { project_mode, identity, .. } = *session;
        self.stores.console.identity_sessions.end_all(project_mode, identity, now).await.unwrap()
    }

    async fn on_record(&self, session: &Session) -> Session {
        let project_mode = session.project_mode;
        stored_session(&self.stores, project_mode, session.id).await.unwrap()
    }
}

/// Sessions come newest first, equal times by id, with any page size, ended ones included.
pub async fn sessions_are_newest_first_in_pages(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let mut all = scene.sessions(&line, &[3, 1, 3, 2, 3]).await;
    let identity = all[0].identity;
    let now = START + seconds(9);
    assert!(scene.end_session(&all[1], now).await);
    all[1].revoked_at = Some(now);
    all.sort_by_key(|session| std::cmp::Reverse((session.created_at, session.id)));
    assert_eq!(scene.of(&line, identity).await, all);
    for limit in 1..6 {
        let mut found: Vec<Session> = Vec::new();
        while found.len() < all.len() {
            let after = found.last().map(Session::cursor);
            let page = &stores.console.identity_sessions;
            let page = page.of_identity(line.project_mode, identity, after, limit);
            found.extend(page.await.unwrap());
        }
        assert_eq!(found, all, "{limit}");
    }
}

/// One session ends and no other; it ends once, and not after it has expired.
pub async fn sessions_end_one_by_one(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let mut all = scene.sessions(&scene.line(), &[0, 1, 2]).await;
    let now = START + seconds(9);
    assert!(scene.end_session(&all[1], now).await);
    assert!(!scene.end_session(&all[1], now + seconds(1)).await);
    all[1].revoked_at = Some(now);
    assert!(!scene.end_session(&all[0], all[0].expires_at).await);
    for session in all {
        assert_eq!(scene.on_record(&session).await, session);
    }
}

/// All valid sessions of the identity end, also if a store needs several batches.
pub async fn all_sessions_of_one_identity_end(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let (line, other) = (scene.line(), scene.line());
    let many: Vec<u64> = (0..230).collect();
    let all = scene.sessions(&line, &many).await;
    let bystander = scene.session(&other).await;
    let now = START + seconds(300);
    assert!(scene.end_session(&all[7], START + seconds(299)).await);
    assert_eq!(scene.end_sessions(&all[0], now).await, 229);
    assert_eq!(scene.end_sessions(&all[0], now).await, 0);
    for session in &all {
        assert!(!scene.on_record(session).await.is_alive(now));
    }
    assert_eq!(scene.on_record(&all[7]).await.revoked_at, Some(START + seconds(299)));
    assert_eq!(scene.on_record(&bystander).await, bystander);
}

/// Calls for another project, the other mode or another identity end nothing.
pub async fn ends_stay_inside_project_mode_and_identity(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let session = scene.session(&scene.line()).await;
    let stranger = scene.session(&scene.line()).await;
    let project = scene.another().await;
    let wrong = [
        Session { project_mode: project.in_mode(session.project_mode.mode), ..session.clone() },
        Session {
            project_mode: session.project_mode.project.in_mode(KeyMode::Test),
            ..session.clone()
        },
        Session { identity: stranger.identity, ..session.clone() },
        Session { id: scene.make.id(), ..session.clone() },
    ];
    for (number, wrong) in wrong.iter().enumerate() {
        assert!(!scene.end_session(wrong, START).await, "{number}");
    }
    for wrong in &wrong[..2] {
        assert_eq!(scene.end_sessions(wrong, START).await, 0);
        let Session { project_mode, identity, .. } = *wrong;
        let seen =
            stores.console.identity_sessions.of_identity(project_mode, identity, None, 9).await;
        assert_eq!(seen.unwrap(), []);
    }
    assert_eq!(scene.on_record(&session).await, session);
}

/// Exactly one of many concurrent calls, for one session or for all, ends the session.
pub async fn ends_at_once_end_a_session_once(stores: &Stores) {
    let scene = Arc::new(Scene::open(stores).await);
    for _ in 0..ROUNDS {
        let session = scene.session(&scene.line()).await;
        let answers = race(20, |number| {
            let (scene, session) = (Arc::clone(&scene), session.clone());
            async move {
                if number % 2 == 0 {
                    scene.end_session(&session, START).await
                } else {
                    scene.end_sessions(&session, START).await == 1
                }
            }
        })
        .await;
        assert_eq!(count(&answers, |ended| *ended), 1);
    }
}

/// A refresh that began before an end, of one session or of all, does not keep the session alive.
pub async fn no_refresh_survives_an_end(stores: &Stores) {
    let scene = Scene::open(stores).await;
    for round in 0..ROUNDS * 5 {
        let session = scene.session(&scene.line()).await;
        let next: Vec<_> = (0..10).map(|_| scene.make.successor(&session, START)).collect();
        let end = round % next.len();
        race(next.len(), |number| {
            let (stores, next) = (stores.clone(), next[number].clone());
            let (seen, presented) = (session.clone(), scene.make.presented(&session));
            async move {
                let Session { project_mode, identity, id, .. } = seen;
                if number != end {
                    let rotated =
                        stores.sessions.rotate(seen, presented, next, POLICY, START).await;
                    let known = [Rotation::Rotated, Rotation::Refused];
                    assert!(known.contains(&rotated.unwrap().unwrap()));
                } else if round % 2 == 0 {
                    let sessions = stores.console.identity_sessions;
                    assert!(sessions.end_one(project_mode, identity, id, START).await.unwrap());
                } else {
                    let sessions = stores.console.identity_sessions;
                    assert_eq!(sessions.end_all(project_mode, identity, START).await.unwrap(), 1);
                }
            }
        })
        .await;
        let on_record = scene.on_record(&session).await;
        assert!(!on_record.is_alive(START));
        assert!(!on_record.honours(on_record.access.token, START));
    }
}

/// Fresh: all sessions of every project, mode and identity end, also if a store needs several batches; each
/// once, and ended sessions are unchanged.
pub async fn every_session_ends(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let line = scene.line();
    let mut all = scene.sessions(&line, &(0..530).collect::<Vec<u64>>()).await;
    for other in scene.elsewhere(&line).await {
        all.push(scene.session(&other).await);
    }
    let now = START + seconds(600);
    assert!(scene.end_session(&all[7], START + seconds(599)).await);
    let sessions = &stores.console.identity_sessions;
    assert_eq!(sessions.end_everywhere(now).await.unwrap(), 531);
    assert_eq!(sessions.end_everywhere(now).await.unwrap(), 0);
    for (number, session) in all.iter().enumerate() {
        let at = if number == 7 { START + seconds(599) } else { now };
        assert_eq!(scene.on_record(session).await.revoked_at, Some(at), "{number}");
    }
}
