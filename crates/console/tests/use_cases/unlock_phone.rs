use crate::common::{BY, World, down, limits};
use dwar_console::{ManageError, UnlockPhone, Unlocked};
use dwar_kernel::{KeyMode, ProjectId};
use dwar_otp::{GuessBudget, GuessPeriod, SendPace};
use dwar_testkit::{START, minutes};
use std::mem::take;
use std::sync::Arc;

async fn unlock(world: &mut World, project: ProjectId) -> Result<Unlocked, ManageError> {
    let use_case = UnlockPhone {
        control: world.control(),
        otps: Arc::new(take(&mut world.otps)),
        limits: limits(),
    };
    use_case.unlock(&BY, project, &world.line.phone).await
}

/// Makes a world whose store expects one call that clears the wrong guesses of its phone, and answers with
/// `budget`.
fn counted(budget: Option<GuessBudget>) -> World {
    let mut world = World::live();
    let line = world.line.clone();
    world
        .knows_project()
        .otps
        .expect_forget_guesses()
        .times(1)
        .withf(move |project_mode, phone| {
            (*project_mode, *phone)
                == (line.project_mode.project.in_mode(KeyMode::Live), line.index)
        })
        .returning(move |_, _| Ok(budget));
    world
}

#[tokio::test]
async fn what_was_counted_is_forgotten_and_what_it_meant_is_told() {
    let period = GuessPeriod { began_at: START, wrong: 100, stopped_at: Some(START) };
    let guesses =
        GuessBudget { wrong: 7, last_wrong_at: Some(START), period: Some(period), devices: None };
    let mut world = counted(Some(guesses));
    world.clock.advance(minutes(60));
    let project = world.line.project_mode.project;
    let pace = SendPace::Stopped(minutes(23 * 60));
    assert_eq!(unlock(&mut world, project).await.unwrap(), Unlocked { guesses, pace });
}

#[tokio::test]
async fn what_is_over_is_nothing_to_lift() {
    let long_ago =
        GuessBudget { wrong: 60, last_wrong_at: Some(START), period: None, devices: None };
    for budget in [None, Some(long_ago)] {
        let mut world = counted(budget);
        world.clock.advance(minutes(30 * 24 * 60));
        let project = world.line.project_mode.project;
        let nothing = Unlocked { guesses: GuessBudget::default(), pace: SendPace::Usual };
        assert_eq!(unlock(&mut world, project).await.unwrap(), nothing);
    }
}

#[tokio::test]
async fn a_project_nobody_knows_and_a_store_out_of_reach_are_told() {
    let mut world = World::live();
    let stranger = world.make.project().id;
    world.knows_project();
    let unknown = unlock(&mut world, stranger).await;
    assert!(matches!(unknown, Err(ManageError::NoSuchProject)));
    let mut world = World::live();
    let project = world.line.project_mode.project;
    world.knows_project().otps.expect_forget_guesses().returning(|_, _| Err(down()));
    assert!(matches!(unlock(&mut world, project).await, Err(ManageError::Store(_))));
}
