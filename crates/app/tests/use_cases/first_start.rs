use crate::common::World;
use dwar_app::{Demo, FirstStart, ManageProjects};
use dwar_wallet::Paise;
use std::mem::take;
use std::sync::Arc;

fn first_start(world: &mut World, demo: bool) -> FirstStart {
    let projects = ManageProjects {
        tools: world.tools(),
        projects: Arc::new(take(&mut world.projects)),
        wallets: Arc::new(take(&mut world.wallets)),
    };
    let demo = demo.then(|| Demo { name: "Demo".to_owned(), balance: Paise(500) });
    FirstStart { projects: Arc::new(projects), demo }
}

#[tokio::test]
async fn makes_the_demo_project_on_an_empty_store() {
    let mut world = World::live();
    world.projects.expect_create_first().times(1).returning(|_, _| Ok(true));
    world.wallets.expect_credit().times(1).returning(|_, _, _| Ok(true));
    let made = first_start(&mut world, true).run().await.unwrap().unwrap();
    assert_eq!((made.name.as_str(), made.balance), ("Demo", Paise(500)));
}

#[tokio::test]
async fn makes_nothing_on_a_store_with_projects() {
    let mut world = World::live();
    world.projects.expect_create_first().times(1).returning(|_, _| Ok(false));
    assert!(first_start(&mut world, true).run().await.unwrap().is_none());
}

#[tokio::test]
async fn makes_nothing_when_no_demo_is_wanted() {
    assert!(first_start(&mut World::live(), false).run().await.unwrap().is_none());
}
