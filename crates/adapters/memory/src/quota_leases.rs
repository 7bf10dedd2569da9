use crate::shards::lock;
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};
use dwar_ratelimit::{Grant, LeaseRequest, QuotaLeases, QuotaShares, RequestKey};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;

/// Keeps the shares of several limiters of one process, for tests. Its clock moves only on request.
#[derive(Debug, Default)]
pub struct MemoryQuotaLeases {
    kept: Mutex<(Timestamp, HashMap<RequestKey, QuotaShares>)>,
}

impl MemoryQuotaLeases {
    /// Makes a store without shares, at the time zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock forward by `time`, so that shares can end.
    pub fn pass(&self, time: Duration) {
        lock(&self.kept).0 += time;
    }

    /// The number of keys that have shares, including ended ones not yet swept.
    pub fn keys(&self) -> usize {
        lock(&self.kept).1.len()
    }
}

#[async_trait]
impl QuotaLeases for MemoryQuotaLeases {
    async fn exchange(
        &self,
        requests: Vec<(RequestKey, LeaseRequest)>,
    ) -> Result<Vec<Option<Grant>>, StoreError> {
        let (now, shares) = &mut *lock(&self.kept);
        let exchange =
            |(key, lease_request)| shares.entry(key).or_default().exchange(&lease_request, *now);
        Ok(requests.into_iter().map(exchange).collect())
    }

    async fn sweep_shares(&self) -> Result<u64, StoreError> {
        let (now, shares) = &mut *lock(&self.kept);
        let before = shares.len();
        shares.retain(|_, it| it.over_at().is_some_and(|over| *now < over));
        Ok((before - shares.len()) as u64)
    }
}
