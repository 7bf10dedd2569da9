//! Tells whether this process can serve requests.

use super::background::{Prepared, Restarts};
use super::stores::Database;
use async_trait::async_trait;
use dwar_app::ClockWatch;
use dwar_http::{LoopHealth, Readiness};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long a proof is valid, from its start.
const FRESH: Duration = Duration::from_secs(1);

/// Ready if the service is prepared, the clock is not too far off, and a write to the database
/// works.
pub struct Ready {
    prepared: Prepared,
    watch: Arc<ClockWatch>,
    restarts: Arc<Restarts>,
    writes: Proofs,
}

impl Ready {
    pub const fn new(
        prepared: Prepared,
        watch: Arc<ClockWatch>,
        restarts: Arc<Restarts>,
        database: Arc<dyn Database>,
    ) -> Self {
        let writes = Proofs { database, latest: Mutex::new(None) };
        Self { prepared, watch, restarts, writes }
    }
}

#[async_trait]
impl Readiness for Ready {
    fn prepared(&self) -> bool {
        self.prepared.initialized()
    }

    fn hindrance(&self) -> Option<String> {
        self.watch.is_too_far_off().then(|| self.clock()).flatten()
    }

    fn clock(&self) -> Option<String> {
        self.watch.trouble()
    }

    async fn ready(&self) -> bool {
        self.prepared() && self.writes.work().await
    }

    fn restarted(&self) -> Vec<LoopHealth> {
        self.restarts.list()
    }
}

/// Proves that writes work, at most once in [`FRESH`] for all callers and one at a time, so that a
/// frozen database gets one query, however many ask.
struct Proofs {
    database: Arc<dyn Database>,
    latest: Mutex<Option<Proof>>,
}

#[derive(Clone)]
struct Proof {
    begun: Instant,
    outcome: watch::Receiver<Option<bool>>,
}

impl Proofs {
    async fn work(&self) -> bool {
        let mut proof = self.current();
        let outcome = proof.outcome.wait_for(Option::is_some).await;
        // A proof that panicked proves nothing.
        outcome.is_ok_and(|outcome| *outcome == Some(true))
    }

    /// The running or valid proof, or a new one.
    fn current(&self) -> Proof {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match latest.as_ref().filter(|proof| proof.counts()) {
            Some(proof) => proof.clone(),
            None => latest.insert(self.begin()).clone(),
        }
    }

    /// Runs in a separate task, because the first caller may give up before the others.
    fn begin(&self) -> Proof {
        let (told, outcome) = watch::channel(None);
        let database = Arc::clone(&self.database);
        tokio::spawn(async move {
            let proved = database.prove_writable().await;
            told.send_replace(Some(proved.is_ok()));
        });
        Proof { begun: Instant::now(), outcome }
    }
}

impl Proof {
    fn counts(&self) -> bool {
        let is_under_way = self.outcome.borrow().is_none() && self.outcome.has_changed().is_ok();
        is_under_way || self.begun.elapsed() < FRESH
    }
}

#[cfg(test)]
#[path = "readiness_tests.rs"]
mod tests;
