//! Promises of [`dwar_project::HookStore`].

use crate::scene::new_project;
use crate::{Fixtures, MS, START, Stores, minutes};
use dwar_kernel::{KeyMode, NewSecret, ProjectId};
use dwar_project::{Hook, HookChange, HookKind};
use std::time::Duration;

async fn stored_hook(stores: &Stores, make: &Fixtures, project: ProjectId) -> Hook {
    let hook = make.hook(project);
    stores.hooks.add_hook(hook.clone()).await.unwrap();
    hook
}

/// Hooks come back unchanged, oldest first, to their own project only.
pub async fn hooks_come_back_oldest_first(stores: &Stores) {
    let make = Fixtures::random();
    let (project, other) = (new_project(stores, &make).await, new_project(stores, &make).await);
    let old = make.hook(project);
    let new = Hook {
        project_mode: project.in_mode(KeyMode::Test),
        kind: HookKind::Logto,
        lifetime: Duration::from_secs(3_600),
        mfa_lifetime: None,
        created_at: START + MS,
        ..make.hook(project)
    };
    let foreign = make.hook(other);
    for hook in [&new, &old, &foreign] {
        stores.hooks.add_hook(hook.clone()).await.unwrap();
    }
    assert_eq!(stores.hooks.hooks(project).await.unwrap(), [old, new]);
    assert_eq!(stores.hooks.hooks(other).await.unwrap(), [foreign]);
    assert_eq!(stores.hooks.hooks(make.id()).await.unwrap(), []);
}

/// The caller of a hook is its project, in its mode, with the current key of that mode.
pub async fn a_hook_speaks_for_the_present_key_of_its_mode(stores: &Stores) {
    let make = Fixtures::random();
    let project = new_project(stores, &make).await;
    for mode in [KeyMode::Live, KeyMode::Test] {
        let hook = Hook { project_mode: project.in_mode(mode), ..make.hook(project) };
        stores.hooks.add_hook(hook.clone()).await.unwrap();
        for _ in 0..2 {
            let new = make.key(mode);
            assert!(stores.projects.replace_key(project, new.clone()).await.unwrap());
            let found = stores.hooks.hook_caller(hook.id).await.unwrap().unwrap();
            assert_eq!(found.hook, hook);
            assert_eq!((found.caller.mode, found.caller.key), (mode, new.id));
            assert_eq!(Some(found.caller.project), stores.projects.find(project).await.unwrap());
        }
    }
    assert_eq!(stores.hooks.hook_caller(make.id()).await.unwrap(), None);
}

/// A hook of an archived project is unknown to the very next call, until the project is restored.
pub async fn a_hook_of_an_archived_project_is_unknown(stores: &Stores) {
    let make = Fixtures::random();
    let project = new_project(stores, &make).await;
    let hook = stored_hook(stores, &make, project).await;
    stores.projects.set_archived(project, Some(START)).await.unwrap();
    assert_eq!(stores.hooks.hook_caller(hook.id).await.unwrap(), None);
    stores.projects.set_archived(project, None).await.unwrap();
    assert!(stores.hooks.hook_caller(hook.id).await.unwrap().is_some());
}

/// The very next call finds a change, and everything else is as before. Another project cannot change the
/// hook.
pub async fn a_changed_hook_is_found_changed_at_once(stores: &Stores) {
    let make = Fixtures::random();
    let (project, other) = (new_project(stores, &make).await, new_project(stores, &make).await);
    let mut hook = stored_hook(stores, &make, project).await;
    let (one, two) = (Some(Duration::from_secs(60)), Some(Duration::from_secs(3_600)));
    for (lifetime, mfa_lifetime) in [(one, None), (None, two), (two, one), (None, None)] {
        let change = HookChange { lifetime, mfa_lifetime };
        change.apply(&mut hook);
        assert!(stores.hooks.change_hook(project, hook.id, change).await.unwrap());
        let found = stores.hooks.hook_caller(hook.id).await.unwrap().unwrap();
        assert_eq!(found.hook, hook);
        assert!(!stores.hooks.change_hook(other, hook.id, change).await.unwrap());
        assert!(!stores.hooks.change_hook(project, make.id(), change).await.unwrap());
    }
    assert_eq!(stores.hooks.hooks(project).await.unwrap(), [hook]);
}

/// Two concurrent changes of different values are both made.
pub async fn changes_of_a_hook_at_once_are_both_made(stores: &Stores) {
    let make = Fixtures::random();
    let project = new_project(stores, &make).await;
    let hook = stored_hook(stores, &make, project).await;
    for round in 0..super::ROUNDS as u64 {
        let (one, two) = (Duration::from_secs(60 + round), Duration::from_secs(90 + round));
        let change = |change| stores.hooks.change_hook(project, hook.id, change);
        let both = tokio::join!(
            change(HookChange { lifetime: Some(one), ..HookChange::default() }),
            change(HookChange { mfa_lifetime: Some(two), ..HookChange::default() }),
        );
        assert!(both.0.unwrap() && both.1.unwrap());
        let found = stores.hooks.hook_caller(hook.id).await.unwrap().unwrap().hook;
        assert_eq!((found.lifetime, found.mfa_lifetime), (one, Some(two)));
    }
}

/// A new secret replaces the present one, which stays valid until its end; an even older one is dropped.
/// Another project cannot replace the secret.
pub async fn a_new_secret_takes_the_place_of_the_present_one(stores: &Stores) {
    let make = Fixtures::random();
    let (project, other) = (new_project(stores, &make).await, new_project(stores, &make).await);
    let mut hook = stored_hook(stores, &make, project).await;
    let new =
        |minute| NewSecret { secret: make.sealed(), previous_until: START + minutes(minute) + MS };
    for minute in [1, 2] {
        let secret = new(minute);
        hook.secret.replace(secret.clone());
        assert!(stores.hooks.replace_hook_secret(project, hook.id, secret).await.unwrap());
        let found = stores.hooks.hook_caller(hook.id).await.unwrap().unwrap();
        assert_eq!(found.hook, hook);
    }
    assert!(!stores.hooks.replace_hook_secret(other, hook.id, new(3)).await.unwrap());
    assert!(!stores.hooks.replace_hook_secret(project, make.id(), new(3)).await.unwrap());
    assert_eq!(stores.hooks.hooks(project).await.unwrap(), [hook]);
}

/// If two new secrets are made concurrently, one becomes the present secret and the other the previous one.
pub async fn new_secrets_at_once_are_both_kept(stores: &Stores) {
    let make = Fixtures::random();
    let project = new_project(stores, &make).await;
    let hook = stored_hook(stores, &make, project).await;
    for _ in 0..super::ROUNDS {
        let [one, two] = [(); 2]
            .map(|()| NewSecret { secret: make.sealed(), previous_until: START + minutes(1) });
        let replace = |secret| stores.hooks.replace_hook_secret(project, hook.id, secret);
        let both = tokio::join!(replace(one.clone()), replace(two.clone()));
        assert!(both.0.unwrap() && both.1.unwrap());
        let found = stores.hooks.hook_caller(hook.id).await.unwrap().unwrap().hook.secret;
        let kept = (found.present, found.previous.unwrap().secret);
        let (one, two) = (one.secret, two.secret);
        assert!(kept == (one.clone(), two.clone()) || kept == (two, one));
    }
}

/// A removed hook is unknown at once, can be removed once, and no other hook is affected; another project
/// cannot remove it.
pub async fn a_removed_hook_is_unknown_at_once(stores: &Stores) {
    let make = Fixtures::random();
    let (project, other) = (new_project(stores, &make).await, new_project(stores, &make).await);
    let gone = stored_hook(stores, &make, project).await;
    let kept = stored_hook(stores, &make, project).await;
    assert!(!stores.hooks.remove_hook(other, gone.id).await.unwrap());
    assert!(stores.hooks.remove_hook(project, gone.id).await.unwrap());
    assert!(!stores.hooks.remove_hook(project, gone.id).await.unwrap());
    assert_eq!(stores.hooks.hook_caller(gone.id).await.unwrap(), None);
    assert_eq!(stores.hooks.hooks(project).await.unwrap(), [kept]);
}

/// A project has at most [`Hook::MOST`] hooks, also if they are added concurrently; another project has its
/// own.
pub async fn a_project_has_a_bounded_number_of_hooks(stores: &Stores) {
    let make = Fixtures::random();
    let (project, other) = (new_project(stores, &make).await, new_project(stores, &make).await);
    let come = (0..Hook::MOST + 5).map(|_| stores.hooks.add_hook(make.hook(project)));
    let taken = futures_util::future::join_all(come).await;
    let taken = taken.into_iter().filter(|taken| *taken.as_ref().unwrap()).count();
    assert_eq!(taken, Hook::MOST);
    let mut there = stores.hooks.hooks(project).await.unwrap();
    assert_eq!(there.len(), Hook::MOST);
    assert!(stores.hooks.add_hook(make.hook(other)).await.unwrap());
    let gone = there.remove(0);
    assert!(stores.hooks.remove_hook(project, gone.id).await.unwrap());
    assert!(stores.hooks.add_hook(gone).await.unwrap());
}
