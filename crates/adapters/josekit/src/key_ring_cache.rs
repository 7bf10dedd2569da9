use crate::key_ring::KeyRing;
use dwar_kernel::{StoreError, Timestamp, Vault, with_causes};
use dwar_session::SigningKeyStore;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// Age below which a ring is used without asking the store.
const FRESH: Duration = Duration::from_secs(1);
/// Age below which a ring is still used while the store is unavailable. Verifiers elsewhere may
/// keep the published key set equally long (`max-age` of the JWK Set).
const GRACE: Duration = Duration::from_secs(300);
/// How long a request waits for the store while it has a ring within the grace period.
const PATIENCE: Duration = Duration::from_millis(200);

/// Caches the key ring, which is at most one second old while the store answers.
///
/// A request with a fresh ring takes no lock that is held across a wait. Otherwise one request
/// reads the store and all others wait for its answer. While the store fails, a background task
/// retries once a second and no request waits.
#[derive(Clone)]
pub(crate) struct KeyRingCache {
    store: Arc<dyn SigningKeyStore>,
    vault: Arc<dyn Vault>,
    state: Arc<RwLock<State>>,
    turn: Arc<Mutex<()>>,
}

#[derive(Clone, Default)]
struct State {
    ring: Option<CachedRing>,
    /// Number of finished reads, successful or not.
    reads: u64,
    last_read: Option<Instant>,
    last_miss: Option<Instant>,
    failing: bool,
}

#[derive(Clone)]
struct CachedRing {
    ring: Arc<KeyRing>,
    since: Instant,
}

impl State {
    fn younger_than(&self, age: Duration) -> Option<Arc<KeyRing>> {
        let held = self.ring.as_ref().filter(|held| held.since.elapsed() < age)?;
        Some(Arc::clone(&held.ring))
    }
}

impl KeyRingCache {
    pub(crate) fn new(store: Arc<dyn SigningKeyStore>, vault: Arc<dyn Vault>) -> Self {
        Self { store, vault, state: Arc::default(), turn: Arc::default() }
    }

    /// The current ring.
    ///
    /// # Errors
    /// The error of the store or of an unusable key, if there is no ring within the grace period.
    pub(crate) async fn ring(&self, now: Timestamp) -> Result<Arc<KeyRing>, StoreError> {
        let seen = self.state().clone();
        match seen.younger_than(FRESH) {
            Some(ring) => Ok(ring),
            None => self.refresh(&seen, now).await,
        }
    }

    /// Reads the ring again, for a key that the current one lacks.
    ///
    /// `None` if another missing key caused a read within the last second.
    ///
    /// # Errors
    /// Like [`KeyRingCache::ring`].
    pub(crate) async fn after_miss(
        &self,
        now: Timestamp,
    ) -> Result<Option<Arc<KeyRing>>, StoreError> {
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

    async fn refresh(&self, seen: &State, now: Timestamp) -> Result<Arc<KeyRing>, StoreError> {
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

    /// Reads the store again in the background, unless a read is already in progress.
    fn probe(&self, now: Timestamp) {
        if self.state().last_read.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        if let Ok(turn) = Arc::clone(&self.turn).try_lock_owned() {
            let cache = self.clone();
            tokio::spawn(async move {
                // A failure is recorded and logged already.
                let _ = cache.read(now).await;
                drop(turn);
            });
        }
    }

    /// Reads the store, or takes the answer of a read that ended since `seen`.
    async fn read_in_turn(&self, seen: u64, now: Timestamp) -> Result<Arc<KeyRing>, StoreError> {
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

    /// Reads the store; the caller holds the lock for it.
    async fn read(&self, now: Timestamp) -> Result<Arc<KeyRing>, StoreError> {
        let since = Instant::now();
        self.state_mut().last_read = Some(since);
        let previous = self.state().ring.as_ref().map(|held| Arc::clone(&held.ring));
        let records = self.store.keys(now).await;
        let ring = records
            .and_then(|records| KeyRing::open(records, previous.as_deref(), self.vault.as_ref()))
            .inspect_err(|cause| self.fail(with_causes(cause)))?;
        let ring = Arc::new(ring);
        let mut state = self.state_mut();
        state.ring = Some(CachedRing { ring: Arc::clone(&ring), since });
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
#[path = "key_ring_cache_tests.rs"]
mod tests;
