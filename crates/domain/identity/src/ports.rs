use crate::{Erased, Identity};
use async_trait::async_trait;
use dwar_kernel::{BlindIndex, IdentityId, ProjectMode, StoreError, Timestamp};

/// Keeps verified phone numbers per project and mode; a login adds them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait IdentityStore: Send + Sync {
    /// The identity with this id in this project and mode, or `None`.
    async fn find(
        &self,
        project_mode: ProjectMode,
        id: IdentityId,
    ) -> Result<Option<Identity>, StoreError>;

    /// The identity of this phone in this project and mode, or `None`.
    async fn find_by_phone(
        &self,
        project_mode: ProjectMode,
        phone: BlindIndex,
    ) -> Result<Option<Identity>, StoreError>;

    /// Erases the identity, its sessions and every other trace of its phone number in this project and mode
    /// in one step; `None` if there is no such identity.
    ///
    /// Traces are OTP requests with their attempts, sandbox messages and idempotency records. Limits are not
    /// reset. A verify or refresh in flight MUST NOT leave a session of the erased identity behind
    /// (docs/contract.md, Identities).
    async fn erase(
        &self,
        project_mode: ProjectMode,
        id: IdentityId,
        now: Timestamp,
    ) -> Result<Option<Erased>, StoreError>;
}
