use crate::shards::{Shards, lock};
use async_trait::async_trait;
use dwar_kernel::{InstanceId, StoreError, Timestamp, with_causes};
use dwar_ratelimit::{
    Admission, Grant, LEASE, LeaseDecision, LeaseRequest, LocalLease, Quota, QuotaLeases,
    RenewalRequest, RequestKey, RequestLimiter,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;

/// Most attempts of one request to get places while other requests take them first.
const TRIES: u32 = 20;
/// Keys that are renewed with one call.
const BATCH: usize = 500;

/// Limits the requests of this process by leased shares of a quota that several instances use.
///
/// A request is judged in memory. A separate task asks for places ahead of need, one block at a
/// time. Only a request that finds no place waits, and one of many waiting requests asks for all.
/// Only [`RequestLimiter::renew_leases`] renews shares, so renewals delay no request.
///
/// Without a place and without an answer the request is not admitted: [`StoreError::Unavailable`].
///
/// Clocks: a share ends when either the caller's clock or the machine's monotonic clock says so.
/// Neither has to agree with the clock of another instance or of the store.
///
/// Memory: as [`crate::MemoryRequestLimiter`], and about 250 bytes for each key in use.
pub struct LeasedRequestLimiter {
    keys: Shards<Key>,
    desk: Arc<LeaseClient>,
}

struct LeaseClient {
    leases: Arc<dyn QuotaLeases>,
    holder: InstanceId,
    asked: AtomicU64,
}

#[derive(Default)]
struct Key {
    kept: Mutex<Kept>,
    turn: Arc<tokio::sync::Mutex<()>>,
    failures: AtomicU64,
}

#[derive(Default)]
struct Kept {
    local_lease: LocalLease,
    /// When the current share was requested.
    asked_at: Option<Instant>,
}

impl Kept {
    fn local_lease(&mut self) -> &mut LocalLease {
        if self.asked_at.is_none_or(|at| at.elapsed() >= LEASE) {
            self.local_lease.lapse();
        }
        &mut self.local_lease
    }
}

/// A lease request in progress; no other is made for this key meanwhile.
struct PendingLease {
    name: RequestKey,
    key: Arc<Key>,
    lease_request: LeaseRequest,
    now: Timestamp,
    at: Instant,
    _turn: OwnedMutexGuard<()>,
}

impl PendingLease {
    /// Makes a lease request; from here on no more places are held than it states.
    fn new(
        desk: &LeaseClient,
        (name, key): (RequestKey, Arc<Key>),
        turn: OwnedMutexGuard<()>,
        spare: bool,
        now: Timestamp,
    ) -> Self {
        // Both are taken before the request is sent, so the store grants the share for at least as
        // long as this limiter assumes.
        let at = Instant::now();
        let number = desk.asked.fetch_add(1, Ordering::Relaxed);
        let asking = RenewalRequest { holder: desk.holder, number, now };
        let lease_request = lock(&key.kept).local_lease().lease_request(asking, spare);
        Self { name, key, lease_request, now, at, _turn: turn }
    }

    fn granted(self, grant: Option<Grant>) {
        // The request is older than the last granted one; nobody waits for it.
        let Some(grant) = grant else { return };
        let mut kept = lock(&self.key.kept);
        kept.asked_at = Some(self.at);
        kept.local_lease.granted(&self.lease_request, self.now, grant);
    }
}

impl LeaseClient {
    async fn ask(&self, asked: Vec<PendingLease>) -> Result<(), StoreError> {
        let requests = asked.iter().map(|it| (it.name, it.lease_request.clone())).collect();
        match self.leases.exchange(requests).await {
            Ok(grants) => {
                asked.into_iter().zip(grants).for_each(|(it, grant)| it.granted(grant));
                Ok(())
            }
            Err(cause) => {
                for it in &asked {
                    it.key.failures.fetch_add(1, Ordering::Relaxed);
                }
                Err(cause)
            }
        }
    }
}

impl LeasedRequestLimiter {
    /// Makes a limiter without shares. `holder` is an id that no other limiter has.
    pub fn new(leases: Arc<dyn QuotaLeases>, holder: InstanceId) -> Self {
        let desk = Arc::new(LeaseClient { leases, holder, asked: AtomicU64::default() });
        Self { keys: Shards::default(), desk }
    }

    /// Asks for places while some are left, unless a request is already in progress.
    fn ask_ahead(&self, (name, key): (RequestKey, &Arc<Key>), now: Timestamp) {
        if let Ok(turn) = Arc::clone(&key.turn).try_lock_owned() {
            let asked = PendingLease::new(&self.desk, (name, Arc::clone(key)), turn, true, now);
            let desk = Arc::clone(&self.desk);
            tokio::spawn(async move {
                // A request that finds no places asks itself and gets the error.
                if let Err(cause) = desk.ask(vec![asked]).await {
                    tracing::debug!(error = %with_causes(&cause), "places could not be reserved ahead of need");
                }
            });
        }
    }
}

fn unavailable() -> StoreError {
    StoreError::Unavailable("the quota is used up here and cannot be renewed".to_owned())
}

#[async_trait]
impl RequestLimiter for LeasedRequestLimiter {
    /// # Errors
    /// [`StoreError`] if no place is held and none can be asked for.
    async fn hit(
        &self,
        name: RequestKey,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Admission, StoreError> {
        let key = self.keys.of(name);
        let step = || lock(&key.kept).local_lease().hit(quota, now);
        let mut judged = step();
        for _ in 0..TRIES {
            match judged {
                LeaseDecision::Admitted { admission, low } => {
                    if low {
                        self.ask_ahead((name, &key), now);
                    }
                    return Ok(admission);
                }
                LeaseDecision::Refused(admission) => return Ok(admission),
                LeaseDecision::Ask => {}
            }
            let failures = key.failures.load(Ordering::Relaxed);
            let turn = Arc::clone(&key.turn).lock_owned().await;
            // The request before this one got an answer for all waiting requests.
            judged = step();
            if judged == LeaseDecision::Ask {
                if key.failures.load(Ordering::Relaxed) != failures {
                    return Err(unavailable());
                }
                let asked =
                    PendingLease::new(&self.desk, (name, Arc::clone(&key)), turn, true, now);
                self.desk.ask(vec![asked]).await?;
                judged = step();
            }
        }
        Err(unavailable())
    }

    async fn sweep(&self, now: Timestamp) -> Result<(), StoreError> {
        self.keys.sweep(
            |key| _ = lock(&key.kept).local_lease().expire(now),
            |key| {
                let kept = key.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
                kept.local_lease().expire(now)
            },
        );
        self.desk.leases.sweep_shares().await.map(drop)
    }

    async fn renew_leases(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut due = Vec::new();
        for (name, key) in self.keys.each() {
            let Ok(turn) = Arc::clone(&key.turn).try_lock_owned() else { continue };
            let spare = lock(&key.kept).local_lease().due(now);
            if let Some(spare) = spare {
                due.push(PendingLease::new(&self.desk, (name, key), turn, spare, now));
            }
            if due.len() == BATCH {
                self.desk.ask(std::mem::take(&mut due)).await?;
            }
        }
        if due.is_empty() { Ok(()) } else { self.desk.ask(due).await }
    }

    async fn leave(&self, now: Timestamp) -> Result<(), StoreError> {
        let mut all = Vec::new();
        for (name, key) in self.keys.each() {
            let turn = Arc::clone(&key.turn).lock_owned().await;
            if !lock(&key.kept).local_lease().expire(now) {
                all.push(PendingLease::new(&self.desk, (name, key), turn, false, now));
            }
            if all.len() == BATCH {
                self.desk.ask(std::mem::take(&mut all)).await?;
            }
        }
        if all.is_empty() { Ok(()) } else { self.desk.ask(all).await }
    }
}

#[cfg(test)]
#[path = "leased_limiter_tests.rs"]
mod tests;
