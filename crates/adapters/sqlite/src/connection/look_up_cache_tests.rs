#![allow(clippy::unwrap_used, reason = "everything here runs inside tests")]

use crate::{Settings, SqliteStore, Synchronous};
use dwar_kernel::{KeyMode, SessionId, TokenId};
use dwar_project::{KeyRecord, ProjectStore};
use dwar_session::{Session, SessionStore};
use dwar_testkit::{Fixtures, START};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// Two stores on one file, which SQLite treats like two processes.
struct Scene {
    ours: SqliteStore,
    theirs: SqliteStore,
    make: Fixtures,
    keys: [KeyRecord; 2],
    session: Session,
    _folder: TempDir,
}

impl Scene {
    async fn open() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dwar.db");
        let settings = Settings { synchronous: Synchronous::Normal, ..Settings::new(path) };
        let open = || SqliteStore::open(settings.clone()).unwrap();
        let (ours, theirs) = (open(), open());
        ours.migrate().await.unwrap();
        let make = Fixtures::random();
        let (project, keys) = (make.project(), make.keys());
        ours.create(project.clone(), keys.clone()).await.unwrap();
        let line = make.line(project.id.in_mode(KeyMode::Live));
        let login = make.login(&line);
        let identity = make.log_in(&ours, &line, login.clone()).await;
        let session = Session { identity, ..login.session };
        Self { ours, theirs, make, keys, session, _folder: folder }
    }

    async fn another_session(&self) -> Session {
        let line = self.make.line(self.session.project_mode.project.in_mode(KeyMode::Live));
        let login = self.make.login(&line);
        let identity = self.make.log_in(&self.ours, &line, login.clone()).await;
        Session { identity, ..login.session }
    }

    async fn issue(&self, store: &SqliteStore) {
        let line = self.make.line(self.session.project_mode.project.in_mode(KeyMode::Live));
        self.make.issue(store, self.make.otp(&line)).await;
    }

    fn is_remembered(&self) -> bool {
        let remembered = self.ours.remembered().unwrap();
        remembered.find(self.keys[0].digest, self.session.id).is_ok()
    }

    async fn is_revoked(&self) -> bool {
        let caller = self
            .ours
            .find_key_and_session(self.keys[0].digest, Some(self.session.id))
            .await
            .unwrap();
        caller.unwrap().session.unwrap().revoked_at.is_some()
    }

    fn revoke(&self, store: &SqliteStore) -> impl Future<Output = bool> + use<> {
        let (store, session) = (store.clone(), self.session.clone());
        async move {
            let token: TokenId = session.access.token;
            store.revoke(session, token, START).await.unwrap()
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_look_up_is_remembered_until_its_session_changes() {
    let scene = Scene::open().await;
    assert!(!scene.is_remembered() && !scene.is_revoked().await);
    assert!(scene.is_remembered());
    // The first write finds out that no other process has written; the next ones know it.
    scene.issue(&scene.ours).await;
    assert!(!scene.is_revoked().await);
    scene.issue(&scene.ours).await;
    let other = scene.another_session().await;
    let token = other.access.token;
    assert!(scene.ours.revoke(other, token, START).await.unwrap());
    assert!(scene.is_remembered());
    assert!(scene.revoke(&scene.ours).await);
    assert!(!scene.is_remembered() && scene.is_revoked().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_outlives_a_write_of_another_process() {
    let scene = Scene::open().await;
    assert!(!scene.is_revoked().await && scene.is_remembered());
    scene.issue(&scene.theirs).await;
    assert!(!scene.is_remembered());
    assert!(!scene.is_revoked().await && scene.is_remembered());
    assert!(scene.revoke(&scene.theirs).await);
    assert!(!scene.is_remembered() && scene.is_revoked().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_out_of_force_once_it_is_replaced() {
    for ours in [true, false] {
        let scene = Scene::open().await;
        assert!(!scene.is_revoked().await && scene.is_remembered());
        let store = if ours { &scene.ours } else { &scene.theirs };
        let fresh = scene.make.key(KeyMode::Live);
        assert!(
            store.replace_key(scene.session.project_mode.project, fresh.clone()).await.unwrap()
        );
        let find_key_and_session =
            async |key| scene.ours.find_key_and_session(key, Some(scene.session.id)).await.unwrap();
        assert_eq!(find_key_and_session(scene.keys[0].digest).await, None);
        assert_eq!(find_key_and_session(fresh.digest).await.unwrap().key, fresh.id);
        // The answer for one key is not the answer for another.
        assert_eq!(find_key_and_session(scene.keys[1].digest).await.unwrap().session, None);
    }
}

/// Both processes write while ours looks a session up, so that every step of one falls between any
/// two steps of the other. Then one of them ends the session.
#[tokio::test(flavor = "multi_thread")]
async fn no_question_is_told_what_was_true_before_it() {
    for round in 0..60 {
        let scene = Arc::new(Scene::open().await);
        let ended = Arc::new(AtomicBool::new(false));
        let asking = (0..4).map(|_| {
            let (scene, ended) = (Arc::clone(&scene), Arc::clone(&ended));
            tokio::spawn(async move {
                let mut asked_after_the_end = 0;
                while asked_after_the_end < 3 {
                    let over = ended.load(Ordering::SeqCst);
                    asked_after_the_end += u32::from(over);
                    assert!(scene.is_revoked().await || !over, "alive after its end");
                    // An answer from memory never waits, so yield the thread to the others.
                    tokio::task::yield_now().await;
                }
            })
        });
        let asking: Vec<_> = asking.collect();
        let writing = [true, false].map(|ours| {
            let (scene, ended) = (Arc::clone(&scene), Arc::clone(&ended));
            tokio::spawn(async move {
                while !ended.load(Ordering::SeqCst) {
                    scene.issue(if ours { &scene.ours } else { &scene.theirs }).await;
                    // SQLite's lock between processes is not fair.
                    tokio::time::sleep(Duration::from_micros(300)).await;
                }
            })
        });
        tokio::time::sleep(Duration::from_millis(round % 20)).await;
        let ending = if round % 2 == 0 { &scene.ours } else { &scene.theirs };
        assert!(scene.revoke(ending).await);
        ended.store(true, Ordering::SeqCst);
        for task in asking.into_iter().chain(writing) {
            task.await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn strangers_fill_no_memory() {
    let scene = Scene::open().await;
    let stranger: SessionId = scene.make.id();
    let caller =
        scene.ours.find_key_and_session(scene.keys[0].digest, Some(stranger)).await.unwrap();
    assert_eq!(caller.unwrap().session, None);
    let remembered = scene.ours.remembered().unwrap();
    assert!(remembered.find(scene.keys[0].digest, stranger).is_err());
    assert_eq!(remembered.count(), 0);
}
