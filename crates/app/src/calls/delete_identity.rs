use crate::CommonPorts;
use crate::refusals::refusals;
use dwar_identity::{Erased, IdentityStore};
use dwar_kernel::{IdentityId, TRACE};
use dwar_project::Caller;
use std::sync::Arc;
use tracing::instrument;

/// Erases an identity and revokes its sessions (`DELETE /v1/identity/{id}`).
pub struct DeleteIdentity {
    pub tools: CommonPorts,
    pub identities: Arc<dyn IdentityStore>,
}

refusals! {
    DeleteIdentityError {
        Disabled = "identity deletion is not enabled",
        NotFound = "no such identity",
    }
}

impl DeleteIdentity {
    /// Erases every trace of the identity (docs/contract.md, Identities); a malformed id is not found.
    #[instrument(name = "delete_identity", target = TRACE, level = "error", skip_all)]
    pub async fn delete(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<(IdentityId, Erased), DeleteIdentityError> {
        if !caller.project.identity_delete {
            return Err(DeleteIdentityError::Disabled);
        }
        let id: IdentityId = id.parse().map_err(|_| DeleteIdentityError::NotFound)?;
        let now = self.tools.now();
        let erased = self.identities.erase(caller.project_mode(), id, now).await?;
        erased.map(|erased| (id, erased)).ok_or(DeleteIdentityError::NotFound)
    }
}
