use crate::refusals::refusals;
use crate::{Audit, Change, Toolbox};
use dwar_identity::{Erased, IdentityStore};
use dwar_kernel::{IdentityId, KeyMode, ProjectId};
use dwar_operator::{Action, By, Facts};
use std::sync::Arc;

/// Erases an identity for an operator, whatever the project lets its API keys do.
pub struct EraseIdentity {
    pub tools: Toolbox,
    pub identities: Arc<dyn IdentityStore>,
    pub audit: Audit,
}

refusals! {
    /// Why nothing was erased.
    EraseIdentityError {
        NotFound = "no such identity",
        Forbidden = "your role does not allow this",
    }
}

impl EraseIdentity {
    /// Erases every trace of the identity (docs/contract.md, Identities).
    pub async fn erase(
        &self,
        by: &By,
        project: ProjectId,
        mode: KeyMode,
        id: IdentityId,
    ) -> Result<Erased, EraseIdentityError> {
        let found = self.identities.find(project, mode, id).await?;
        let found = found.ok_or(EraseIdentityError::NotFound)?;
        let facts = Facts::new()
            .word("mode", mode)
            .word("created_at", found.created_at.to_rfc3339())
            .word("last_verified_at", found.last_verified_at.to_rfc3339());
        let change = Change::new(Action::IdentityErased, id).within(project).before(facts);
        self.audit.record(by, change).await?;
        let erased = self.identities.erase(project, mode, id, self.tools.now()).await?;
        erased.ok_or(EraseIdentityError::NotFound)
    }
}
