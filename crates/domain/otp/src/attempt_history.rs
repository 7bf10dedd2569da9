use crate::DeliveryAttempt;
use async_trait::async_trait;
use dwar_kernel::{StoreError, Timestamp};

/// Reads calls to providers and their outcome, for operators.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait AttemptHistory: Send + Sync {
    /// The newest `limit` attempts of live requests of all projects, made at or after `since`. The newest
    /// request comes first; within one request, its last attempt comes first.
    async fn newest_attempts(
        &self,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<DeliveryAttempt>, StoreError>;
}
