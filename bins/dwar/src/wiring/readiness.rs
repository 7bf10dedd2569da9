//! Whether this process can be sent requests.

use super::background::{Prepared, Restarts};
use super::stores::Database;
use async_trait::async_trait;
use dwar_app::ClockWatch;
use dwar_http::{LoopHealth, Readiness};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;

/// For how long a proof counts, from its begin.
const FRESH: Duration = Duration::from_secs(1);

/// Ready means: prepared, the clock is not too far off, and a write to the database works.
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

/// Proves that a write works, at most once in [`FRESH`] for all who want to know, and one at a time: however
/// many ask a database that is frozen, it is asked once.
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
        // One that panicked proves nothing.
        outcome.is_ok_and(|outcome| *outcome == Some(true))
    }

    /// The proof that is under way or fresh, or a new one.
    fn current(&self) -> Proof {
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        match latest.as_ref().filter(|proof| proof.counts()) {
            Some(proof) => proof.clone(),
            None => latest.insert(self.begin()).clone(),
        }
    }

    /// In a task of its own: whoever asked first may give up before the others.
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
