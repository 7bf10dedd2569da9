//! Collects the history while it happens.

use crate::history::{Fault, Message, Micros, Op};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Shared by clients, provider and nemesis.
pub struct Recorder {
    start: Instant,
    taken: Mutex<Taken>,
}

#[derive(Default)]
pub struct Taken {
    pub ops: Vec<Op>,
    pub messages: Vec<Message>,
    pub faults: Vec<Fault>,
    pub stall: Micros,
}

impl Recorder {
    pub fn new() -> Self {
        Self { start: Instant::now(), taken: Mutex::default() }
    }

    /// The current time by the clock of the history.
    pub fn now(&self) -> Micros {
        self.start.elapsed().as_micros().try_into().unwrap_or(Micros::MAX)
    }

    pub fn op(&self, op: Op) {
        self.taken().ops.push(op);
    }

    pub fn message(&self, message: Message) {
        self.taken().messages.push(message);
    }

    pub fn fault(&self, kind: &'static str, instance: Option<usize>, began: Micros) {
        let ended = self.now();
        self.taken().faults.push(Fault { kind, instance, began, ended });
    }

    /// Records how long this process could not run.
    pub fn stalled(&self, stall: Micros) {
        let mut taken = self.taken();
        taken.stall = taken.stall.max(stall);
    }

    /// The messages to a phone, oldest first.
    pub fn messages_to(&self, phone: &str) -> Vec<Message> {
        let all = &self.taken().messages;
        // The newest are at the end, and no client looks far back.
        let mut found: Vec<_> =
            all.iter().rev().take(5_000).filter(|one| one.phone == phone).cloned().collect();
        found.reverse();
        found
    }

    /// Returns everything that was collected, in order.
    pub fn finish(&self) -> Taken {
        let mut taken = std::mem::take(&mut *self.taken());
        taken.ops.sort_by_key(|op| (op.began, op.ended));
        taken
    }

    fn taken(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
