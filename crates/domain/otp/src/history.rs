use crate::Otp;
use async_trait::async_trait;
use dwar_kernel::{BlindIndex, OtpId, ProjectMode, StoreError};

/// Reads requests for people: what was sent lately, and what became of the codes of one phone.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OtpHistory: Send + Sync {
    /// The newest `limit` requests of one mode, newest first; with `before` only those older than it,
    /// with `failed` only those whose delivery failed. MUST cost the same however many are on record, also
    /// where all of them are of the other mode or none failed.
    async fn newest(
        &self,
        world: ProjectMode,
        failed: bool,
        before: Option<OtpId>,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError>;

    /// The newest `limit` requests of a phone, newest first.
    async fn of_phone(
        &self,
        world: ProjectMode,
        phone: BlindIndex,
        limit: u32,
    ) -> Result<Vec<Otp>, StoreError>;
}
