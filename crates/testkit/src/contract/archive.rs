//! Promises of [`dwar_project::ProjectStore`] and [`dwar_session::SessionStore`] about archived projects.

use super::{ROUNDS, count};
use crate::scene::Scene;
use crate::{START, Stores, any_project, race, seconds};
use dwar_kernel::{KeyMode, ProjectId, SessionId, Timestamp};
use dwar_project::{Project, ProjectChange};
use std::sync::Arc;

async fn set(stores: &Stores, project: ProjectId, at: Option<Timestamp>) -> Project {
    stores.projects.set_archived(project, at).await.unwrap().unwrap()
}

/// Number of the project's current keys that both look-ups know, with a session and without.
async fn known(stores: &Stores, project: ProjectId, session: SessionId) -> usize {
    let mut known = 0;
    for key in stores.projects.keys(project).await.unwrap() {
        let caller = stores.projects.caller(key.digest).await.unwrap().is_some();
        for named in [None, Some(session)] {
            let sought = stores.sessions.find_key_and_session(key.digest, named).await.unwrap();
            assert_eq!(sought.is_some(), caller, "{named:?}");
        }
        known += usize::from(caller);
    }
    known
}

/// No key of an archived project is known to any later request, with a session or without, until the project
/// is restored. Its other data and other projects are unchanged.
pub async fn no_key_of_an_archived_project_is_known(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let session = scene.session(&scene.line()).await;
    let other = scene.another().await;
    let before = stores.projects.find(scene.project).await.unwrap().unwrap();
    let keys = stores.projects.keys(scene.project).await.unwrap();
    for round in 0..ROUNDS as u32 {
        assert_eq!(known(stores, scene.project, session.id).await, 2);
        let at = START + seconds(9) * (round + 1);
        let archived = set(stores, scene.project, Some(at)).await;
        let answers = race(20, |number| {
            let (stores, digest) = (stores.clone(), keys[number % 2].digest);
            let session = Some(session.id);
            async move {
                let caller = stores.projects.caller(digest).await.unwrap();
                caller.is_some()
                    || stores
                        .sessions
                        .find_key_and_session(digest, session)
                        .await
                        .unwrap()
                        .is_some()
            }
        })
        .await;
        assert_eq!(count(&answers, |known| *known), 0);
        assert_eq!(known(stores, other, session.id).await, 2);
        assert_eq!(archived, Project { archived_at: Some(at), ..before.clone() });
        assert_eq!(stores.projects.find(scene.project).await.unwrap(), Some(archived.clone()));
        assert!(stores.projects.list().await.unwrap().contains(&archived));
        assert_eq!(stores.projects.keys(scene.project).await.unwrap(), keys);
        assert_eq!(set(stores, scene.project, None).await, before);
    }
    assert_eq!(known(stores, scene.project, session.id).await, 2);
    let sought = stores
        .sessions
        .find_key_and_session(keys[0].digest, Some(session.id))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(sought.session, Some(session));
}

/// Archiving or restoring again changes nothing, and an unknown project gives `None`.
pub async fn the_first_archival_counts(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let found = async || stores.projects.find(scene.project).await.unwrap().unwrap();
    let new = found().await;
    assert_eq!(set(stores, scene.project, None).await, new);
    let first = set(stores, scene.project, Some(START + seconds(1))).await;
    assert_eq!(first.archived_at, Some(START + seconds(1)));
    assert_eq!(set(stores, scene.project, Some(START + seconds(2))).await, first);
    assert_eq!(found().await, first);
    for _ in 0..2 {
        assert_eq!(set(stores, scene.project, None).await, new);
        assert_eq!(found().await, new);
    }
    for at in [Some(START), None] {
        assert_eq!(stores.projects.set_archived(scene.make.id(), at).await.unwrap(), None);
    }
}

/// A key that replaces another one while the project is archived is unknown until it is restored.
pub async fn a_key_replaced_meanwhile_waits_for_the_restoration(stores: &Stores) {
    let scene = Scene::open(stores).await;
    let knows = async |digest| stores.projects.caller(digest).await.unwrap().is_some();
    for mode in [KeyMode::Live, KeyMode::Test] {
        let keys = stores.projects.keys(scene.project).await.unwrap();
        let old = keys.iter().find(|key| key.mode == mode).unwrap();
        let new = scene.make.key(mode);
        set(stores, scene.project, Some(START)).await;
        assert!(stores.projects.replace_key(scene.project, new.clone()).await.unwrap());
        assert!(!knows(new.digest).await && !knows(old.digest).await);
        set(stores, scene.project, None).await;
        assert!(knows(new.digest).await && !knows(old.digest).await);
    }
}

/// A concurrent archival and change of a setting are both kept.
pub async fn an_archival_and_a_change_at_once_are_both_kept(stores: &Stores) {
    for round in 0..50 {
        let scene = Scene::open(stores).await;
        let (project, name) = (scene.project, format!("Chai {round}"));
        race(2, |number| {
            let (projects, name) = (Arc::clone(&stores.projects), name.clone());
            async move {
                if number == 0 {
                    projects.set_archived(project, Some(START)).await.unwrap();
                } else {
                    let change = ProjectChange { name: Some(name), ..ProjectChange::default() };
                    projects.change(project, change, any_project()).await.unwrap();
                }
            }
        })
        .await;
        let found = stores.projects.find(project).await.unwrap().unwrap();
        assert_eq!((found.name, found.archived_at), (name, Some(START)));
    }
}
