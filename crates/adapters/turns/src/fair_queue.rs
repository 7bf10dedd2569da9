//! A bounded queue in which flows take turns.

use std::collections::{BTreeMap, BTreeSet};

/// Returns one item of each flow in turn, so that a long flow does not delay a short one (fair
/// queueing, RFC 970).
///
/// Items of one flow keep their order. An item behind `n` items of its own flow waits for at most
/// `n + 1` items of each other flow. A flow without items takes no memory. Each operation takes
/// logarithmic time in the number of waiting items.
pub struct FairQueue<K, T> {
    flows: BTreeMap<K, Flow<T>>,
    /// Each flow by the number of its next turn.
    turns: BTreeMap<u64, K>,
    /// The longest flow is last.
    lengths: BTreeSet<(usize, K)>,
    length: usize,
    bound: usize,
    last_number: u64,
}

struct Flow<T> {
    turn: u64,
    /// By their numbers, hence in order.
    items: BTreeMap<u64, T>,
}

/// Identifies a queued item, so that it can leave the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket<K> {
    flow: K,
    number: u64,
}

/// The result of adding an item: its ticket, and an item that had to leave.
#[derive(Debug, PartialEq, Eq)]
pub struct Queued<K, T> {
    pub ticket: Ticket<K>,
    pub pushed_out: Option<T>,
}

impl<K: Copy + Ord, T> FairQueue<K, T> {
    /// Makes a queue of at most `bound` items; 0 counts as 1.
    pub const fn new(bound: usize) -> Self {
        Self {
            flows: BTreeMap::new(),
            turns: BTreeMap::new(),
            lengths: BTreeSet::new(),
            length: 0,
            bound: if bound == 0 { 1 } else { bound },
            last_number: 0,
        }
    }

    pub const fn len(&self) -> usize {
        self.length
    }

    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    pub const fn is_full(&self) -> bool {
        self.length >= self.bound
    }

    /// Adds an item at the end of its flow.
    ///
    /// If the queue is full, the newest item of the longest flow is removed, provided that this
    /// flow is then still at least as long as the flow of the new item.
    ///
    /// # Errors
    /// The item, if the queue is full and its own flow is among the longest.
    pub fn push(&mut self, flow: K, item: T) -> Result<Queued<K, T>, T> {
        let mut pushed_out = None;
        if self.is_full() {
            let own = self.flows.get(&flow).map_or(0, |flow| flow.items.len());
            match self.lengths.last().copied() {
                Some((length, longest)) if own + 1 < length => {
                    pushed_out = self.take(longest, BTreeMap::pop_last);
                }
                _ => return Err(item),
            }
        }
        let number = self.number();
        let turns = &mut self.turns;
        let waiting = self.flows.entry(flow).or_insert_with(|| {
            turns.insert(number, flow);
            Flow { turn: number, items: BTreeMap::new() }
        });
        self.lengths.remove(&(waiting.items.len(), flow));
        waiting.items.insert(number, item);
        self.lengths.insert((waiting.items.len(), flow));
        self.length += 1;
        Ok(Queued { ticket: Ticket { flow, number }, pushed_out })
    }

    /// Removes the oldest item of the flow whose turn it is.
    pub fn pop(&mut self) -> Option<T> {
        let (_, flow) = self.turns.pop_first()?;
        let item = self.take(flow, BTreeMap::pop_first);
        let next_turn = self.number();
        if let Some(waiting) = self.flows.get_mut(&flow) {
            waiting.turn = next_turn;
            self.turns.insert(next_turn, flow);
        }
        item
    }

    /// Removes the item of this ticket, if it still waits.
    pub fn remove(&mut self, ticket: Ticket<K>) -> Option<T> {
        self.take(ticket.flow, |items| items.remove_entry(&ticket.number))
    }

    fn take(
        &mut self,
        flow: K,
        which: impl FnOnce(&mut BTreeMap<u64, T>) -> Option<(u64, T)>,
    ) -> Option<T> {
        let waiting = self.flows.get_mut(&flow)?;
        let length = waiting.items.len();
        let (_, item) = which(&mut waiting.items)?;
        self.lengths.remove(&(length, flow));
        self.length -= 1;
        if waiting.items.is_empty() {
            self.turns.remove(&waiting.turn);
            self.flows.remove(&flow);
        } else {
            self.lengths.insert((length - 1, flow));
        }
        Some(item)
    }

    const fn number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }
}

#[cfg(test)]
#[path = "fair_queue_tests.rs"]
mod tests;
