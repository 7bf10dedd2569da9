use super::*;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use uuid::Uuid;

type Entering<'door> = Pin<Box<dyn Future<Output = Option<Permit>> + 'door>>;

fn project(number: u128) -> Flow {
    Some(Uuid::from_u128(number).into())
}

fn poll(entering: &mut Entering) -> Poll<Option<Permit>> {
    entering.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

/// Somebody who has come to the door and has to wait.
fn comes(door: &Arc<Door>, flow: Flow) -> Entering<'_> {
    let mut entering: Entering = Box::pin(door.enter(flow));
    assert!(poll(&mut entering).is_pending());
    entering
}

fn enters(door: &Arc<Door>, flow: Flow) -> Permit {
    let Poll::Ready(Some(permit)) = poll(&mut (Box::pin(door.enter(flow)) as Entering)) else {
        panic!("there is no permit");
    };
    permit
}

fn let_in(entering: &mut Entering) -> Permit {
    let Poll::Ready(Some(permit)) = poll(entering) else { panic!("was not let in") };
    permit
}

fn free(door: &Door) -> usize {
    door.state().free
}

#[test]
fn a_flood_of_one_project_leaves_the_next_permit_but_one_to_another() {
    let door = Door::new(2);
    let (a, b) = (project(1), project(2));
    let mut inside = vec![enters(&door, a), enters(&door, a)];
    let mut flood: Vec<_> = (0..500).map(|_| comes(&door, a)).collect();
    let mut other = comes(&door, b);
    let mut nobody = comes(&door, None);
    // One by one: the first of the flood, the other, nobody's; then the flood alone, in its order.
    inside.remove(0);
    let first = let_in(&mut flood[0]);
    assert!(poll(&mut other).is_pending());
    drop(first);
    drop(let_in(&mut other));
    drop(let_in(&mut nobody));
    for at in 1..500 {
        assert!(flood.get_mut(at + 1).is_none_or(|next| poll(next).is_pending()));
        drop(let_in(&mut flood[at]));
    }
    drop(inside);
    assert_eq!(free(&door), 2);
}

#[test]
fn whoever_gives_up_leaves_the_queue_and_no_permit_is_lost() {
    let door = Door::new(1);
    let inside = enters(&door, None);
    let (early, mut late) = (comes(&door, project(1)), comes(&door, project(2)));
    drop(early);
    assert_eq!(door.state().waiting.len(), 1);
    drop(inside);
    drop(let_in(&mut late));
    assert_eq!(free(&door), 1);
    drop(enters(&door, None));
}

#[test]
fn a_permit_given_to_one_who_vanishes_before_taking_it_goes_on() {
    let door = Door::new(1);
    let inside = enters(&door, None);
    let (vanishing, mut next) = (comes(&door, project(1)), comes(&door, project(2)));
    drop(inside);
    assert!(poll(&mut next).is_pending());
    drop(vanishing);
    drop(let_in(&mut next));
    assert_eq!(free(&door), 1);
}

#[test]
fn a_permit_that_only_the_vanished_wait_for_is_free() {
    let door = Door::new(1);
    let inside = enters(&door, None);
    let waiting: Vec<_> = (0..100).map(|_| comes(&door, project(1))).collect();
    drop(inside);
    drop(waiting);
    assert_eq!((free(&door), door.state().waiting.len()), (1, 0));
}

#[test]
fn a_full_queue_turns_the_newest_of_the_longest_away() {
    let door = Door::with_room(1, 4);
    let (a, b) = (project(1), project(2));
    let inside = enters(&door, a);
    let mut flood: Vec<_> = (0..4).map(|_| comes(&door, a)).collect();
    let mut one_more: Entering = Box::pin(door.enter(a));
    assert!(matches!(poll(&mut one_more), Poll::Ready(None)));
    let mut other = comes(&door, b);
    assert!(matches!(poll(&mut flood[3]), Poll::Ready(None)));
    flood.truncate(3);
    drop(inside);
    drop(let_in(&mut flood[0]));
    drop(let_in(&mut other));
    drop(let_in(&mut flood[1]));
    drop(let_in(&mut flood[2]));
    assert_eq!(free(&door), 1);
}

/// Some give up at the very moment when they are given a permit.
#[test]
fn any_coming_and_going_at_once_loses_no_permit() {
    let door = Door::new(2);
    std::thread::scope(|threads| {
        for number in 0..8 {
            let door = Arc::clone(&door);
            threads.spawn(move || {
                for round in 0..5_000 {
                    let mut entering: Entering = Box::pin(door.enter(project(number % 3)));
                    let patience = (round + number) % 4;
                    let permit = (0..=patience).find_map(|_| match poll(&mut entering) {
                        Poll::Ready(permit) => permit,
                        Poll::Pending => None,
                    });
                    drop((permit, entering));
                }
            });
        }
    });
    assert_eq!((free(&door), door.state().waiting.len()), (2, 0));
}
