use crate::Otp;
use async_trait::async_trait;
use dwar_kernel::{BlindIndex, OtpId, ProjectId, ProjectMode, StoreError};

/// Reads requests for people: what was sent lately, and what became of the codes of one phone.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait OtpHistory: Send + Sync {
    /// The newest `limit` requests of a project in both its worlds, newest first; with `before`
    /// only those older than it. Costs the same however many are on record.
    async fn newest(
        &self,
        project: ProjectId,
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
