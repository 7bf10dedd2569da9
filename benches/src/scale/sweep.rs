//! The effect of the deletion of old rows on other requests.

use super::asking::ask_until;
use super::crowd::Crowd;
use super::extent::{Extent, KEEP_HOURS, settings};
use super::fill;
use super::times::Times;
use crate::Outcome;
use crate::contestant::{Contestant, Running};
use crate::floor::Answers;
use crate::outcome::now_millis;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Duration of the part of a round in which nothing is deleted.
const CALM: Duration = Duration::from_secs(20);
/// Number of rounds, each calm at first.
const ROUNDS: u64 = 5;
/// Age of the oldest filled row, in hours.
const FILLED_HOURS: u64 = 59 * 24;
/// Pause between two checks whether all old rows are deleted.
const POLL: Duration = Duration::from_millis(250);

#[derive(Default)]
pub struct Leaving {
    pub calm: Mix,
    pub busy: Mix,
    /// Number of deleted requests, with their attempts.
    pub gone: u64,
    /// Duration of the deletions, over all rounds.
    pub seconds: f64,
}

/// Concurrent sends and validations, on two connections each; one entry per round.
#[derive(Default)]
pub struct Mix {
    pub sends: Vec<Times>,
    pub validates: Vec<Times>,
}

/// Starts the service alternately so that nothing is old, and so that the next part of the fill is;
/// it sweeps from its start on.
pub fn measure(side: &mut Contestant, crowd: &Crowd, extent: &Extent) -> Outcome<Leaving> {
    let mut leaving = Leaving::default();
    let part = FILLED_HOURS * extent.swept / extent.requests / ROUNDS;
    for round in 1..=ROUNDS {
        eprintln!("old rows leave, round {round}");
        side.settings = settings(KEEP_HOURS);
        let running = side.start(&Answers::new())?;
        leaving.calm.add(mix(&running, crowd, || {
            thread::sleep(CALM);
            Ok(())
        })?);
        drop(running);

        let before = fill::count(side)?;
        let hours = FILLED_HOURS - round * part;
        side.settings = settings(hours);
        let edge = now_millis()? - hours * 3_600_000;
        let running = side.start(&Answers::new())?;
        let begun = Instant::now();
        let mixed = mix(&running, crowd, || {
            while fill::has_older(side, edge)? {
                thread::sleep(POLL);
            }
            Ok(())
        })?;
        leaving.seconds += begun.elapsed().as_secs_f64();
        drop(running);
        let sent = mixed.0.count as u64;
        leaving.busy.add(mixed);
        leaving.gone += (before + sent).saturating_sub(fill::count(side)?);
    }
    Ok(leaving)
}

impl Mix {
    fn add(&mut self, (sends, validates): (Times, Times)) {
        self.sends.push(sends);
        self.validates.push(validates);
    }
}

/// Sends requests until `wait` returns.
fn mix(
    running: &Running<'_>,
    crowd: &Crowd,
    wait: impl FnOnce() -> Outcome<()>,
) -> Outcome<(Times, Times)> {
    let (over, next) = (AtomicBool::new(false), AtomicUsize::new(0));
    let validations = crowd.validations();
    let validate = || {
        let place = next.fetch_add(1, Ordering::Relaxed) % validations.len().max(1);
        validations.get(place).cloned().unwrap_or_default()
    };
    thread::scope(|scope| {
        let sends = scope.spawn(|| ask_until(running, || crowd.send(), &over, 2));
        let validates = scope.spawn(|| ask_until(running, validate, &over, 2));
        let waited = wait();
        over.store(true, Ordering::Relaxed);
        let done = |one: thread::ScopedJoinHandle<'_, Outcome<Vec<u32>>>| {
            one.join().map_err(|_| "a client panicked")?
        };
        let (sends, validates) = (done(sends)?, done(validates)?);
        waited?;
        Ok((Times::of(sends), Times::of(validates)))
    })
}
