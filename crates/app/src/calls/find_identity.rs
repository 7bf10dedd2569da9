use crate::CommonPorts;
use crate::refusals::refusals;
use dwar_identity::{Identity, IdentityStore};
use dwar_kernel::{IdentityId, Phone, StoreError, TRACE, Timestamp, Vault};
use dwar_project::Caller;
use std::sync::Arc;
use tracing::instrument;

/// Looks up an identity by id or phone (`GET /v1/identity…`).
pub struct FindIdentity {
    pub tools: CommonPorts,
    pub identities: Arc<dyn IdentityStore>,
}

/// An identity with its phone number in clear.
#[derive(Debug)]
pub struct FoundIdentity {
    pub id: IdentityId,
    pub phone: Phone,
    pub created_at: Timestamp,
    pub last_verified_at: Timestamp,
}

impl FoundIdentity {
    /// Decrypts the phone number of a stored identity; fails if it was sealed under an unknown key.
    pub fn open(vault: &dyn Vault, identity: Identity) -> Result<Self, StoreError> {
        Ok(Self {
            id: identity.id,
            phone: vault.open_phone(identity.project_mode.project, &identity.phone)?,
            created_at: identity.created_at,
            last_verified_at: identity.last_verified_at,
        })
    }
}

refusals! {
    FindIdentityError {
        Disabled = "identity look-up is not enabled",
        NotFound = "no such identity",
    }
}

impl FindIdentity {
    /// The identity with this id; a malformed id is not found.
    #[instrument(name = "find_identity", target = TRACE, level = "error", skip_all)]
    pub async fn by_id(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<FoundIdentity, FindIdentityError> {
        enabled(caller)?;
        let id: IdentityId = id.parse().map_err(|_| FindIdentityError::NotFound)?;
        let found = self.identities.find(caller.project_mode(), id).await?;
        self.opened(found)
    }

    /// The identity of this phone number in the caller's project and mode.
    #[instrument(name = "find_identity", target = TRACE, level = "error", skip_all)]
    pub async fn by_phone(
        &self,
        caller: &Caller,
        phone: &Phone,
    ) -> Result<FoundIdentity, FindIdentityError> {
        enabled(caller)?;
        let project_mode = caller.project_mode();
        let index = self.tools.vault.phone_index(project_mode, phone);
        let found = self.identities.find_by_phone(project_mode, index).await?;
        self.opened(found)
    }

    fn opened(&self, found: Option<Identity>) -> Result<FoundIdentity, FindIdentityError> {
        let identity = found.ok_or(FindIdentityError::NotFound)?;
        Ok(FoundIdentity::open(self.tools.vault.as_ref(), identity)?)
    }
}

const fn enabled(caller: &Caller) -> Result<(), FindIdentityError> {
    if caller.project.identity_lookup { Ok(()) } else { Err(FindIdentityError::Disabled) }
}
