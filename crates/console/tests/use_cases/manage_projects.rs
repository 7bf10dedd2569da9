use crate::common::{BY, World, down};
use dwar_app::{CreateProject, CreatedProject};
use dwar_console::{ManageError, ManageProjects};
use dwar_kernel::{KeyMode, ProjectId};
use dwar_operator::{Access, Action, AuditFilter, Requester, Role};
use dwar_project::{
    ApiKey, InvalidSetting, KeyRecord, ProjectChange, ProjectChangeResult, ProjectRules,
};
use dwar_testkit::{ClearVault, START, any_project};
use dwar_wallet::{Amount, Credited};
use std::mem::take;
use std::sync::{Arc, Mutex};

fn manage(world: &mut World) -> ManageProjects {
    let (control, wallets) = (world.control(), Arc::new(take(&mut world.wallets)));
    let (tools, projects) = (control.tools.clone(), control.projects.clone());
    let create = CreateProject { tools, projects, wallets };
    ManageProjects { control, create, rules: any_project() }
}

fn empty(world: &mut World) -> &mut World {
    world.projects.expect_list().times(1).returning(|| Ok(Vec::new()));
    world
}

fn has_keys(world: &mut World) -> &mut World {
    let keys = world.make.keys().to_vec();
    world.projects.expect_keys().times(1).returning(move |_| Ok(keys.clone()));
    world
}

/// Expects the opening balance of a new project.
fn opens_wallet(world: &mut World, amount: u32) {
    let credit = world.wallets.expect_credit().times(1).withf(move |_, credit, now| {
        (credit.amount, credit.reference.as_str(), *now)
            == (Amount::from(amount), "opening balance", START)
    });
    credit.returning(|_, _, _| Ok(Credited::Booked));
}

/// Asserts that a record reveals no more of a key than a store may keep.
fn assert_is_record_of(record: &KeyRecord, key: &ApiKey) {
    assert_eq!((record.mode, record.digest), (key.mode(), key.digest(&ClearVault)));
    assert!(key.expose().ends_with(&record.ending));
    assert!(!format!("{record:?}").contains(key.expose()));
    assert_eq!((record.ending.len(), record.created_at), (6, START));
}

#[tokio::test]
async fn a_new_project_shows_its_keys_and_stores_their_digests() {
    let mut world = World::live();
    let stored = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&stored);
    world.projects.expect_create().times(1).returning(move |new, keys| {
        *seen.lock().unwrap() = Some((new, keys));
        Ok(())
    });
    opens_wallet(&mut world, 10_000);
    let created = manage(&mut world)
        .create(&BY, &"Chai".parse().unwrap(), Amount::from(10_000))
        .await
        .unwrap();
    let (new, [live, test]) = stored.lock().unwrap().take().unwrap();
    assert_eq!((created.id, &created.name), (new.id, &new.name));
    assert_eq!((new.name.as_str(), created.balance), ("Chai", Amount::from(10_000)));
    assert_eq!((created.live_key.mode(), created.test_key.mode()), (KeyMode::Live, KeyMode::Test));
    assert_is_record_of(&live, &created.live_key);
    assert_is_record_of(&test, &created.test_key);
    assert_ne!(live.id, test.id);
}

#[tokio::test]
async fn nothing_shows_a_key_in_debug() {
    let mut world = World::live();
    world.projects.expect_create().returning(|_, _| Ok(()));
    let created =
        manage(&mut world).create(&BY, &"Chai".parse().unwrap(), Amount::ZERO).await.unwrap();
    let shown = format!("{created:?}");
    for key in [&created.live_key, &created.test_key] {
        assert!(!shown.contains(key.expose()), "{shown}");
    }
}

#[tokio::test]
async fn no_opening_balance_is_no_credit() {
    let mut world = World::live();
    world.projects.expect_create().times(1).returning(|_, _| Ok(()));
    assert!(manage(&mut world).create(&BY, &"Chai".parse().unwrap(), Amount::ZERO).await.is_ok());
}

#[tokio::test]
async fn a_project_that_could_not_be_made_gets_no_money() {
    let mut world = World::live();
    world.projects.expect_create().returning(|_, _| Err(down()));
    assert!(
        manage(&mut world).create(&BY, &"Chai".parse().unwrap(), Amount::from(1)).await.is_err()
    );
}

#[tokio::test]
async fn the_first_project_is_made_on_an_empty_store() {
    let mut world = World::live();
    let digests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&digests);
    empty(&mut world).projects.expect_create_first().times(1).returning(move |_, keys| {
        seen.lock().unwrap().extend(keys.map(|key| key.digest));
        Ok(true)
    });
    opens_wallet(&mut world, 500);
    let created =
        manage(&mut world).create_first(&"Demo".parse().unwrap(), Amount::from(500)).await.unwrap();
    let CreatedProject { live_key, test_key, .. } = created.unwrap();
    let shown = [live_key, test_key].map(|key| key.digest(&ClearVault));
    assert_eq!(*digests.lock().unwrap(), shown);
}

#[tokio::test]
async fn the_first_project_is_never_made_a_second_time() {
    let mut world = World::live();
    empty(&mut world).projects.expect_create_first().times(1).returning(|_, _| Ok(false));
    assert!(
        manage(&mut world)
            .create_first(&"Demo".parse().unwrap(), Amount::from(500))
            .await
            .unwrap()
            .is_none()
    );
}

#[tokio::test]
async fn a_regenerated_key_is_shown_and_its_digest_takes_the_old_ones_place() {
    for mode in [KeyMode::Live, KeyMode::Test] {
        let mut world = World::live();
        let (project, stored) = (world.line.project_mode.project, Arc::new(Mutex::new(None)));
        let seen = Arc::clone(&stored);
        has_keys(&mut world).knows_project().projects.expect_replace_key().times(1).returning(
            move |project, record| {
                *seen.lock().unwrap() = Some((project, record));
                Ok(true)
            },
        );
        let key =
            manage(&mut world).regenerate_key(&BY, project.in_mode(mode), None).await.unwrap();
        let (of, record) = stored.lock().unwrap().take().unwrap();
        assert_eq!((of, key.mode()), (project, mode));
        assert_is_record_of(&record, &key);
    }
}

#[tokio::test]
async fn an_unknown_project_gets_no_key() {
    let mut world = World::live();
    world.projects.expect_find().times(1).returning(|_| Ok(None));
    let project: ProjectId = world.make.id();
    let answer = manage(&mut world).regenerate_key(&BY, project.in_mode(KeyMode::Live), None).await;
    assert!(matches!(answer, Err(ManageError::NoSuchProject)));
}

#[tokio::test]
async fn a_key_that_was_not_stored_is_not_shown() {
    let mut world = World::live();
    has_keys(&mut world).knows_project();
    world.projects.expect_replace_key().returning(|_, _| Err(down()));
    let project = world.line.project_mode.project;
    let answer = manage(&mut world).regenerate_key(&BY, project.in_mode(KeyMode::Live), None).await;
    assert!(matches!(answer, Err(ManageError::Store(_))));
}

#[tokio::test]
async fn a_key_that_is_not_the_present_one_is_not_replaced() {
    let mut world = World::live();
    has_keys(&mut world).knows_project();
    let (project, other) = (world.line.project_mode.project, world.make.id());
    let answer =
        manage(&mut world).regenerate_key(&BY, project.in_mode(KeyMode::Live), Some(other)).await;
    assert!(matches!(answer, Err(ManageError::Conflict(_))));
}

#[tokio::test]
async fn a_change_gives_the_project_as_it_is_then() {
    let mut world = World::live();
    let change = ProjectChange { identity_lookup: Some(true), ..ProjectChange::default() };
    let project = world.project.clone().with(change.clone());
    let (id, then, named) = (project.id, project.clone(), change.clone());
    let port = world.knows_project().projects.expect_change();
    let port = port.withf(move |of, change, _| (*of, change) == (id, &named));
    port.times(1).returning(move |_, _, _| Ok(ProjectChangeResult::Done(Box::new(then.clone()))));
    assert_eq!(manage(&mut world).change(&BY, id, change).await.unwrap(), project);
}

#[tokio::test]
async fn a_setting_that_cannot_be_is_refused_before_it_is_written_down() {
    let mut world = World::live();
    let (id, control) = (world.line.project_mode.project, world.knows_project().control());
    let rules: ProjectRules = Arc::new(|project| match project.messages.brand {
        Some(_) => vec![InvalidSetting { field: "brand", reason: "not that".to_owned() }],
        None => Vec::new(),
    });
    let log = control.audit.entries.clone();
    let manage = ManageProjects { control, rules, ..manage(&mut World::live()) };
    let brand = Some(Some("Chai".to_owned()));
    let change = ProjectChange { brand, ..ProjectChange::default() };
    let answer = manage.change(&BY, id, change).await;
    assert!(matches!(answer, Err(ManageError::Invalid { field: "brand", .. })));
    assert!(log.page(AuditFilter::default(), None, 9).await.unwrap().is_empty());
}

#[tokio::test]
async fn archiving_and_restoring_are_written_down_once_and_repeated_without_a_word() {
    let mut world = World::live();
    let new = world.project.clone();
    let (id, archived) = (new.id, new.clone().archived(Some(START)));
    for (at, found, then) in [(Some(START), &new, &archived), (None, &archived, &new)] {
        let (found, kept) = (found.clone(), then.clone());
        world.projects.expect_find().times(1).returning(move |_| Ok(Some(found.clone())));
        let port = world.projects.expect_set_archived().withf(move |of, to| (*of, *to) == (id, at));
        port.times(1).returning(move |_, _| Ok(Some(kept.clone())));
        let kept = then.clone();
        world.projects.expect_find().times(1).returning(move |_| Ok(Some(kept.clone())));
    }
    let manage = manage(&mut world);
    for _ in 0..2 {
        assert_eq!(manage.archive(&BY, id).await.unwrap(), archived);
    }
    for _ in 0..2 {
        assert_eq!(manage.restore(&BY, id).await.unwrap(), new);
    }
    let log = manage.control.audit.entries.page(AuditFilter::default(), None, 9).await.unwrap();
    let actions: Vec<_> = log.iter().map(|entry| entry.action).collect();
    assert_eq!(actions, [Action::ProjectRestored, Action::ProjectArchived]);
}

/// The store is not called, and nothing is recorded, even if a form sends unchanged settings along.
#[tokio::test]
async fn what_a_project_has_already_is_neither_changed_nor_written_down() {
    let mut world = World::live();
    let (id, project) = (world.line.project_mode.project, world.project.clone());
    let kept = project.clone();
    world.projects.expect_find().returning(move |_| Ok(Some(kept.clone())));
    let manage = manage(&mut world);
    let same = ProjectChange {
        identity_lookup: Some(project.identity_lookup),
        brand: Some(project.messages.brand.clone()),
        ..ProjectChange::default()
    };
    for change in [ProjectChange::default(), same] {
        assert_eq!(manage.change(&BY, id, change).await.unwrap(), project);
    }
    let log = manage.control.audit.entries.page(AuditFilter::default(), None, 9).await.unwrap();
    assert!(log.is_empty(), "{log:?}");
}

#[tokio::test]
async fn money_and_settings_take_a_right_each() {
    let mut world = World::live();
    let (id, control) = (world.line.project_mode.project, world.knows_project().control());
    let manage = ManageProjects { control, ..manage(&mut World::live()) };
    let member = Requester { access: Access::one(id, Role::Member), ..BY };
    let settings = || ProjectChange { identity_lookup: Some(true), ..ProjectChange::default() };
    for price in [
        ProjectChange { sms_price: Some(None), ..ProjectChange::default() },
        ProjectChange { low_balance: Some(None), ..ProjectChange::default() },
        ProjectChange { sms_price: Some(None), ..settings() },
    ] {
        let answer = manage.change(&member, id, price).await;
        assert!(matches!(answer, Err(ManageError::Forbidden)));
    }
}

#[tokio::test]
async fn a_project_is_shown_and_an_unknown_one_not_at_all() {
    let mut world = World::live();
    let (project, unknown) = (world.project.clone(), world.make.id());
    world.knows_project();
    let manage = manage(&mut world);
    assert_eq!(manage.show(&BY, project.id).await.unwrap(), project);
    let answer = manage.show(&BY, unknown).await;
    assert!(matches!(answer, Err(ManageError::NoSuchProject)));
}

#[tokio::test]
async fn those_projects_are_listed_that_one_may_know_of() {
    let mut world = World::live();
    let projects = vec![world.project.clone(), world.make.project().into_project()];
    let (told, own) = (projects.clone(), projects[0].clone());
    world.projects.expect_list().times(2).returning(move || Ok(told.clone()));
    let manage = manage(&mut world);
    assert_eq!(manage.list(&BY).await.unwrap(), projects);
    let viewer = Requester { access: Access::one(own.id, Role::Viewer), ..BY };
    assert_eq!(manage.list(&viewer).await.unwrap(), [own]);
}
