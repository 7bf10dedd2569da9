use crate::Otp;
use async_trait::async_trait;
use dwar_kernel::{BlindIndex, OtpId, ProjectMode, StoreError};

/// Reads past requests, for the lists and timelines of operators.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OtpHistory: Send + Sync {
    /// The newest `limit` requests of one mode, newest first. With `before`, only requests older than that
    /// one; with `failed`, only those whose delivery failed. MUST cost the same however many requests are on
    /// record, even if all belong to the other mode or none failed.
    async fn newest(
        &self,
        project_mode: ProjectMode,
        failed: bool,
        before: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError>;

    /// The newest `limit` requests of a phone, newest first.
    async fn of_phone(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError>;
}
