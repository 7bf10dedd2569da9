use crate::ring::Ring;
use dwar_kernel::{StoreError, Timestamp, Vault, with_causes};
use dwar_session::SigningKeyStore;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// A ring this young is used without asking the store.
const FRESH: Duration = Duration::from_secs(1);
/// A ring this young still serves while the store is out of reach: verifiers elsewhere may keep
/// the published set just as long (`max-age` of the JWK Set).
const GRACE: Duration = Duration::from_secs(300);
/// How long a request waits for the store while a ring within the grace is at hand.
const PATIENCE: Duration = Duration::from_millis(200);

/// The key ring, at most one second old while the store answers.
///
/// A request with a fresh ring takes no lock that is held while waiting. Otherwise one request
/// reads the store and all others wait for the same answer. While the store fails, a background
/// task asks again once a second and no request waits.
#[derive(Clone)]
pub(crate) struct RingCache {
    store: Arc<dyn SigningKeyStore>,
    vault: Arc<dyn Vault>,
    state: Arc<RwLock<State>>,
    turn: Arc<Mutex<()>>,
}

#[derive(Clone, Default)]
struct State {
    ring: Option<Held>,
    /// How many reads have come to an end, one way or the other.
    reads: u64,
    last_read: Option<Instant>,
    last_miss: Option<Instant>,
    failing: bool,
}

#[derive(Clone)]
struct Held {
    ring: Arc<Ring>,
    since: Instant,
}

impl State {
    fn younger_than(&self, age: Duration) -> Option<Arc<Ring>> {
        let held = self.ring.as_ref().filter(|held| held.since.elapsed() < age)?;
        Some(Arc::clone(&held.ring))
    }
}

impl RingCache {
    pub(crate) fn new(store: Arc<dyn SigningKeyStore>, vault: Arc<dyn Vault>) -> Self {
        Self { store, vault, state: Arc::default(), turn: Arc::default() }
    }

    /// The present ring.
    ///
    /// # Errors
    /// The store's, or that of an unusable key, when there is no ring within the grace.
    pub(crate) async fn ring(&self, now: Timestamp) -> Result<Arc<Ring>, StoreError> {
        let seen = self.state().clone();
        match seen.younger_than(FRESH) {
            Some(ring) => Ok(ring),
            None => self.refresh(&seen, now).await,
        }
    }

    /// A ring read anew, for a key that the present one lacks.
    ///
    /// `None` if another miss caused a read of the store within the last second.
    ///
    /// # Errors
    /// As [`RingCache::ring`].
    pub(crate) async fn after_miss(&self, now: Timestamp) -> Result<Option<Arc<Ring>>, StoreError> {
        let seen = {
            let mut state = self.state_mut();
            if state.last_miss.is_some_and(|at| at.elapsed() < FRESH) {
                return Ok(None);
            }
            state.last_miss = Some(Instant::now());
            state.clone()
        };
        self.refresh(&seen, now).await.map(Some)
    }

    async fn refresh(&self, seen: &State, now: Timestamp) -> Result<Arc<Ring>, StoreError> {
        let Some(usable) = seen.younger_than(GRACE) else {
            return self.read_in_turn(seen.reads, now).await;
        };
        if seen.failing {
            self.probe(now);
            return Ok(usable);
        }
        match timeout(PATIENCE, self.read_in_turn(seen.reads, now)).await {
            Ok(answer) => Ok(answer.unwrap_or(usable)),
            Err(_) => {
                self.fail("no answer in time");
                Ok(usable)
            }
        }
    }

    /// Asks the store again in the background, unless that is already under way.
    fn probe(&self, now: Timestamp) {
        if self.state().last_read.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        if let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() {
            let cache = self.clone();
            tokio::spawn(async move {
                // A failure is on record and in the log already.
                let _ = cache.read(now).await;
                drop(turn);
            });
        }
    }

    /// Reads the store, or takes the answer of a read that ended since `seen`.
    async fn read_in_turn(&self, seen: u64, now: Timestamp) -> Result<Arc<Ring>, StoreError> {
        let _turn = self.turn.lock().await;
        let state = self.state().clone();
        if state.reads == seen {
            return self.read(now).await;
        }
        match state.ring {
            Some(held) if !state.failing => Ok(held.ring),
            _ => Err(StoreError::Unavailable("the signing keys could not be read".to_owned())),
        }
    }

    /// Reads the store; the caller holds the turn.
    async fn read(&self, now: Timestamp) -> Result<Arc<Ring>, StoreError> {
        let since = Instant::now();
        self.state_mut().last_read = Some(since);
        let previous = self.state().ring.as_ref().map(|held| Arc::clone(&held.ring));
        let records = self.store.keys(now).await;
        let ring = records
            .and_then(|records| Ring::open(records, previous.as_deref(), self.vault.as_ref()))
            .inspect_err(|cause| self.fail(with_causes(cause)))?;
        let ring = Arc::new(ring);
        let mut state = self.state_mut();
        state.ring = Some(Held { ring: Arc::clone(&ring), since });
        state.reads += 1;
        state.failing = false;
        Ok(ring)
    }

    fn fail(&self, cause: impl std::fmt::Display) {
        let mut state = self.state_mut();
        state.reads += 1;
        if !std::mem::replace(&mut state.failing, true) {
            tracing::warn!(%cause, "the signing keys cannot be read");
        }
    }

    fn state(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn state_mut(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[path = "ring_cache_tests.rs"]
mod tests;
