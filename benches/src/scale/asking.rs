//! Sends the requests of a list.

use crate::Outcome;
use crate::contestant::Running;
use crate::http::Message;
use crate::load::{Client, drive};
use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Longer than any list takes.
const LONG: Duration = Duration::from_secs(3_600);

/// The duration of each request in microseconds, and its answer, in the order of the list.
pub type Answered = (Vec<u32>, Vec<Vec<u8>>);

/// Sends every request of a list once, on this many connections.
pub fn ask_all(
    running: &Running<'_>,
    requests: &[Vec<u8>],
    wanted: &[&str],
    connections: usize,
) -> Outcome<Answered> {
    let next = Cell::new(0);
    let answers = RefCell::new(vec![Vec::new(); requests.len()]);
    let clients = (0..connections).map(|_| Listed {
        requests,
        wanted,
        next: &next,
        place: 0,
        answers: &answers,
    });
    let (sample, _) = drive(running.addresses(), clients.collect(), LONG)?;
    Ok((sample.micros, answers.into_inner()))
}

struct Listed<'a> {
    requests: &'a [Vec<u8>],
    wanted: &'a [&'a str],
    next: &'a Cell<usize>,
    place: usize,
    answers: &'a RefCell<Vec<Vec<u8>>>,
}

impl Client for Listed<'_> {
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool> {
        self.place = self.next.replace(self.next.get() + 1);
        let Some(listed) = self.requests.get(self.place) else { return Ok(false) };
        request.extend_from_slice(listed);
        Ok(true)
    }

    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()> {
        if !self.wanted.contains(&answer.status()) {
            return Err(answer.complaint().into());
        }
        self.answers.borrow_mut()[self.place] = answer.body.to_vec();
        Ok(())
    }
}

/// Sends requests from `make` until `over` is set, on this many connections, and returns the
/// duration of each in microseconds.
pub fn ask_until(
    running: &Running<'_>,
    make: impl Fn() -> Vec<u8>,
    over: &AtomicBool,
    connections: usize,
) -> Outcome<Vec<u32>> {
    let clients = (0..connections).map(|_| Endless { make: &make, over });
    let (sample, _) = drive(running.addresses(), clients.collect(), LONG)?;
    Ok(sample.micros)
}

struct Endless<'a, M> {
    make: &'a M,
    over: &'a AtomicBool,
}

impl<M: Fn() -> Vec<u8>> Client for Endless<'_, M> {
    fn ask(&mut self, request: &mut Vec<u8>) -> Outcome<bool> {
        request.extend((self.make)());
        Ok(!self.over.load(Ordering::Relaxed))
    }

    fn answered(&mut self, answer: &Message<'_>) -> Outcome<()> {
        if answer.status() == "200" { Ok(()) } else { Err(answer.complaint().into()) }
    }
}
