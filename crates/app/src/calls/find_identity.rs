use crate::Toolbox;
use crate::refusals::refusals;
use dwar_identity::{Identity, IdentityStore};
use dwar_kernel::{IdentityId, Phone, StoreError, Timestamp};
use dwar_project::Caller;
use std::sync::Arc;

/// Looks an identity up by id or phone (`GET /v1/identity…`).
pub struct FindIdentity {
    pub tools: Toolbox,
    pub identities: Arc<dyn IdentityStore>,
}

/// An identity with its phone number in the clear.
#[derive(Debug)]
pub struct FoundIdentity {
    pub id: IdentityId,
    pub phone: Phone,
    pub created_at: Timestamp,
    pub last_verified_at: Timestamp,
}

refusals! {
    /// Why there is no answer.
    FindIdentityError {
        Disabled = "identity look-up is not enabled",
        NotFound = "no such identity",
    }
}

impl FindIdentity {
    /// The identity with this id; a malformed id is not found.
    pub async fn by_id(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<FoundIdentity, FindIdentityError> {
        enabled(caller)?;
        let id: IdentityId = id.parse().map_err(|_| FindIdentityError::NotFound)?;
        let found = self.identities.find(caller.project.id, caller.mode, id).await?;
        self.open(found)
    }

    /// The identity of this phone number.
    pub async fn by_phone(
        &self,
        caller: &Caller,
        phone: &Phone,
    ) -> Result<FoundIdentity, FindIdentityError> {
        enabled(caller)?;
        let (project, mode) = (caller.project.id, caller.mode);
        let index = self.tools.vault.phone_index(project, mode, phone);
        let found = self.identities.find_by_phone(project, mode, index).await?;
        self.open(found)
    }

    fn open(&self, found: Option<Identity>) -> Result<FoundIdentity, FindIdentityError> {
        let identity = found.ok_or(FindIdentityError::NotFound)?;
        let phone = self.tools.vault.open_phone(identity.project, &identity.phone);
        Ok(FoundIdentity {
            id: identity.id,
            phone: phone.map_err(StoreError::from)?,
            created_at: identity.created_at,
            last_verified_at: identity.last_verified_at,
        })
    }
}

const fn enabled(caller: &Caller) -> Result<(), FindIdentityError> {
    if caller.project.identity_lookup { Ok(()) } else { Err(FindIdentityError::Disabled) }
}
