use crate::DeliveryAttempt;
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};

/// Reads what became of calls to providers, for those who run the service.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AttemptHistory: Send + Sync {
    /// The newest `limit` attempts of live requests that were made since `since`, of every project: the newest
    /// request first, and of one request its last attempt first.
    async fn newest_attempts(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<DeliveryAttempt>, StoreError>;
}
