use crate::{Control, ManageError};
use dwar_kernel::TRACE;
use dwar_operator::{AuditCursor, AuditEntry, AuditFilter, Command, Requester};
use tracing::instrument;

/// Shows the audit log of changes by operators.
#[derive(Clone)]
pub struct AuditLog {
    pub(crate) control: Control,
}

impl AuditLog {
    /// At most `limit` entries after `after`, newest first: of the project in the filter, or of the whole
    /// installation.
    #[instrument(name = "audit_log.page", target = TRACE, level = "error", skip_all)]
    pub async fn page(
        &self,
        by: &Requester,
        filter: AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, ManageError> {
        match filter.project {
            Some(project) => {
                self.control.project(by, Command::ListProjectAudit, project).await?;
            }
            None => self.control.admit(by, Command::ListAudit, None)?,
        }
        Ok(self.control.audit.entries.page(filter, after, limit).await?)
    }
}
