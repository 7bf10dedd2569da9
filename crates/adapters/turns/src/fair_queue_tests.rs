use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

type Queue = FairQueue<u8, u32>;

/// A queue with these items: `"aab"` are two items of flow `a` and one of `b`, numbered from 0.
fn queue(bound: usize, flows: &str) -> Queue {
    let mut queue = Queue::new(bound);
    for (number, flow) in (0..).zip(flows.bytes()) {
        queue.push(flow, number).unwrap();
    }
    queue
}

fn drained(mut queue: Queue) -> Vec<u32> {
    let items = std::iter::from_fn(|| queue.pop()).collect();
    assert_eq!(queue.len(), 0);
    assert!(queue.flows.is_empty() && queue.turns.is_empty() && queue.lengths.is_empty());
    items
}

#[test]
fn flows_take_turns_each_in_its_order() {
    assert_eq!(drained(queue(99, "aaaabbc")), [0, 4, 6, 1, 5, 2, 3]);
}

#[test]
fn who_comes_back_has_the_last_turn() {
    let mut queue = queue(99, "abbb");
    assert_eq!(queue.pop(), Some(0));
    queue.push(b'a', 10).unwrap();
    assert_eq!(drained(queue), [1, 10, 2, 3]);
}

#[test]
fn a_full_queue_takes_from_the_longest_for_the_shorter() {
    let mut queue = queue(5, "aaaab");
    assert_eq!(queue.push(b'a', 10), Err(10));
    assert_eq!(queue.push(b'c', 11).unwrap().pushed_out, Some(3));
    assert_eq!(queue.push(b'b', 12).unwrap().pushed_out, Some(2));
    // With two items it would be longer than the rest of the longest flow.
    assert_eq!(queue.push(b'c', 13), Err(13));
    assert_eq!(queue.len(), 5);
    assert_eq!(drained(queue), [0, 4, 11, 1, 12]);
}

#[test]
fn nobody_is_pushed_out_for_as_many_again() {
    let mut queue = queue(3, "abc");
    assert_eq!(queue.push(b'd', 10), Err(10));
    assert_eq!(drained(queue), [0, 1, 2]);
}

#[test]
fn what_is_taken_away_is_neither_given_out_nor_counted() {
    let mut queue = queue(99, "aba");
    let ticket = queue.push(b'c', 3).unwrap().ticket;
    assert_eq!(queue.remove(ticket), Some(3));
    assert_eq!(queue.remove(ticket), None);
    assert_eq!(queue.len(), 3);
    assert_eq!(drained(queue), [0, 1, 2]);
}

#[derive(Clone, Copy, Debug)]
enum Operation {
    Push(u8),
    Pop,
    Remove(usize),
}

fn operation() -> impl Strategy<Value = Operation> {
    // Flows with lower numbers push more often.
    let flow = prop_oneof![4 => Just(0), 2 => Just(1), 1 => 2..6_u8];
    prop_oneof![
        5 => flow.prop_map(Operation::Push),
        3 => Just(Operation::Pop),
        1 => any::<usize>().prop_map(Operation::Remove),
    ]
}

struct Waiting {
    ticket: Ticket<u8>,
    item: u32,
    before_it: usize,
    /// How many items of each other flow went first.
    overtaken: HashMap<u8, usize>,
}

proptest! {
    #[test]
    fn keeps_order_turns_and_bound(bound in 1..12_usize, operations in prop::collection::vec(operation(), 0..200)) {
        let mut queue = Queue::new(bound);
        // In the order in which they came.
        let mut waiting: Vec<Waiting> = Vec::new();
        let of = |waiting: &[Waiting], flow| {
            waiting.iter().filter(|one| one.ticket.flow == flow).count()
        };
        for (item, operation) in (0..).zip(operations) {
            match operation {
                Operation::Push(flow) => {
                    let (full, own) = (waiting.len() == bound, of(&waiting, flow));
                    let longest = (0..6).map(|flow| of(&waiting, flow)).max().unwrap();
                    let Ok(Queued { ticket, pushed_out }) = queue.push(flow, item) else {
                        prop_assert!(full && own + 1 >= longest);
                        continue;
                    };
                    prop_assert_eq!(pushed_out.is_some(), full);
                    if let Some(gone) = pushed_out {
                        let at = waiting.iter().position(|one| one.item == gone).unwrap();
                        let gone = waiting.remove(at).ticket.flow;
                        prop_assert!(of(&waiting, gone) > own, "as long as the other one becomes");
                        prop_assert_eq!(of(&waiting, gone) + 1, longest);
                        prop_assert_eq!(of(&waiting[at..], gone), 0, "the newest went");
                    }
                    waiting.push(Waiting { ticket, item, before_it: own, overtaken: HashMap::new() });
                }
                Operation::Pop => {
                    let Some(item) = queue.pop() else {
                        prop_assert!(waiting.is_empty());
                        continue;
                    };
                    let at = waiting.iter().position(|one| one.item == item).unwrap();
                    let flow = waiting.remove(at).ticket.flow;
                    prop_assert_eq!(of(&waiting[..at], flow), 0, "the oldest went");
                    for other in waiting.iter_mut().filter(|other| other.ticket.flow != flow) {
                        let overtaken = other.overtaken.entry(flow).or_default();
                        *overtaken += 1;
                        prop_assert!(*overtaken <= other.before_it + 1);
                    }
                }
                Operation::Remove(which) if !waiting.is_empty() => {
                    let gone = waiting.remove(which % waiting.len());
                    prop_assert_eq!(queue.remove(gone.ticket), Some(gone.item));
                    prop_assert_eq!(queue.remove(gone.ticket), None);
                }
                Operation::Remove(_) => {}
            }
            prop_assert_eq!(queue.len(), waiting.len());
            prop_assert!(queue.len() <= bound);
        }
        let mut left = drained(queue);
        left.sort_unstable();
        prop_assert_eq!(left, waiting.iter().map(|one| one.item).collect::<Vec<_>>());
    }
}
