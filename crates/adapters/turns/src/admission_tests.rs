use super::*;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

type Flow = Option<u32>;
type Queue = Arc<AdmissionQueue<Flow>>;

type Entering<'queue> = Pin<Box<dyn Future<Output = Option<Permit<Flow>>> + 'queue>>;

fn wide(permits: usize) -> Queue {
    AdmissionQueue::new(permits, 4_096)
}

fn poll(entering: &mut Entering) -> Poll<Option<Permit<Flow>>> {
    entering.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn comes(queue: &Queue, flow: Flow) -> Entering<'_> {
    let mut entering: Entering = Box::pin(queue.enter(flow));
    assert!(poll(&mut entering).is_pending());
    entering
}

fn enters(queue: &Queue, flow: Flow) -> Permit<Flow> {
    let Poll::Ready(Some(permit)) = poll(&mut (Box::pin(queue.enter(flow)) as Entering)) else {
        panic!("there is no permit");
    };
    permit
}

fn let_in(entering: &mut Entering) -> Permit<Flow> {
    let Poll::Ready(Some(permit)) = poll(entering) else { panic!("was not let in") };
    permit
}

fn free(queue: &AdmissionQueue<Flow>) -> usize {
    queue.state().free
}

#[test]
fn a_flood_of_one_project_leaves_the_next_permit_but_one_to_another() {
    let queue = wide(2);
    let (a, b) = (Some(1), Some(2));
    let mut inside = vec![enters(&queue, a), enters(&queue, a)];
    let mut flood: Vec<_> = (0..500).map(|_| comes(&queue, a)).collect();
    let mut other = comes(&queue, b);
    let mut nobody = comes(&queue, None);
    // One by one: the first of the flood, the other flow, the one without a flow; then the flood
    // alone, in order.
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
    assert_eq!(free(&queue), 2);
}

#[test]
fn whoever_gives_up_leaves_the_queue_and_no_permit_is_lost() {
    let queue = wide(1);
    let inside = enters(&queue, None);
    let (early, mut late) = (comes(&queue, Some(1)), comes(&queue, Some(2)));
    drop(early);
    assert_eq!(queue.state().waiting.len(), 1);
    drop(inside);
    drop(let_in(&mut late));
    assert_eq!(free(&queue), 1);
    drop(enters(&queue, None));
}

#[test]
fn a_permit_given_to_one_who_vanishes_before_taking_it_goes_on() {
    let queue = wide(1);
    let inside = enters(&queue, None);
    let (vanishing, mut next) = (comes(&queue, Some(1)), comes(&queue, Some(2)));
    drop(inside);
    assert!(poll(&mut next).is_pending());
    drop(vanishing);
    drop(let_in(&mut next));
    assert_eq!(free(&queue), 1);
}

#[test]
fn a_permit_that_only_the_vanished_wait_for_is_free() {
    let queue = wide(1);
    let inside = enters(&queue, None);
    let waiting: Vec<_> = (0..100).map(|_| comes(&queue, Some(1))).collect();
    drop(inside);
    drop(waiting);
    assert_eq!((free(&queue), queue.state().waiting.len()), (1, 0));
}

#[test]
fn a_full_queue_turns_the_newest_of_the_longest_away() {
    let queue = AdmissionQueue::new(1, 4);
    let (a, b) = (Some(1), Some(2));
    let inside = enters(&queue, a);
    let mut flood: Vec<_> = (0..4).map(|_| comes(&queue, a)).collect();
    let mut one_more: Entering = Box::pin(queue.enter(a));
    assert!(matches!(poll(&mut one_more), Poll::Ready(None)));
    let mut other = comes(&queue, b);
    assert!(matches!(poll(&mut flood[3]), Poll::Ready(None)));
    flood.truncate(3);
    drop(inside);
    drop(let_in(&mut flood[0]));
    drop(let_in(&mut other));
    drop(let_in(&mut flood[1]));
    drop(let_in(&mut flood[2]));
    assert_eq!(free(&queue), 1);
}

#[test]
fn who_waited_who_worked_and_who_left_is_counted() {
    let counted = |times: &crate::Times| times.buckets().map(|(_, count)| count).sum::<u64>();
    let queue = AdmissionQueue::new(1, 2);
    let inside = enters(&queue, Some(1));
    let (mut first, second) = (comes(&queue, Some(1)), comes(&queue, Some(2)));
    let mut one_more: Entering = Box::pin(queue.enter(Some(1)));
    assert!(matches!(poll(&mut one_more), Poll::Ready(None)));
    assert_eq!((queue.load().waiting, queue.load().left), (2, 1));
    drop(second);
    drop(inside);
    drop(let_in(&mut first));
    let load = queue.load();
    assert_eq!((load.waiting, load.left), (0, 2), "one was turned away, one gave up");
    assert_eq!((counted(&load.waited), counted(&load.worked)), (2, 2));
}

/// Some callers give up at the moment when they get a permit.
#[test]
fn any_coming_and_going_at_once_loses_no_permit() {
    let queue = wide(2);
    std::thread::scope(|threads| {
        for number in 0..8 {
            let queue = Arc::clone(&queue);
            threads.spawn(move || {
                for round in 0..5_000 {
                    let mut entering: Entering = Box::pin(queue.enter(Some(number % 3)));
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
    assert_eq!((free(&queue), queue.state().waiting.len()), (2, 0));
}
