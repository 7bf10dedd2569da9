use crate::{AuditRecorder, AuditedChange, ManageError};
use dwar_app::CommonPorts;
use dwar_kernel::{ProjectId, StoreError};
use dwar_operator::{Access, AccessDecision, Command, Requester};
use dwar_project::{Project, ProjectStore};
use std::sync::Arc;

/// Checks the caller's right to every command, and records changes in the audit log.
#[derive(Clone)]
pub struct Control {
    /// Clock, ids and secrets of every command.
    pub tools: CommonPorts,
    pub projects: Arc<dyn ProjectStore>,
    pub audit: AuditRecorder,
}

impl Control {
    /// Admits a command that concerns no single project, or whose project is known to exist.
    ///
    /// # Errors
    /// [`ManageError::Forbidden`] if a right is missing, [`ManageError::MayNotDelegate`] if a token lacks the
    /// right to make things that outlive it, [`ManageError::NoSuchProject`] if the caller may not know of the
    /// project.
    pub fn admit(
        &self,
        by: &Requester,
        command: Command,
        project: Option<ProjectId>,
    ) -> Result<(), ManageError> {
        match by.judge(command, project) {
            AccessDecision::Allowed => Ok(()),
            AccessDecision::Unknown => Err(ManageError::NoSuchProject),
            AccessDecision::Forbidden => {
                tracing::warn!(%command, actor = %by.actor, "refused: the role does not allow it");
                Err(ManageError::Forbidden)
            }
            AccessDecision::Undelegated => {
                tracing::warn!(%command, actor = %by.actor, "refused: the token may not delegate");
                Err(ManageError::MayNotDelegate)
            }
        }
    }

    /// Fails unless the caller may give this access to an operator or token, or take it away.
    ///
    /// # Errors
    /// [`ManageError::Forbidden`] if it exceeds the caller's own access.
    pub fn may_grant(&self, by: &Requester, access: &Access) -> Result<(), ManageError> {
        if by.access.grants(access) { Ok(()) } else { Err(ManageError::Forbidden) }
    }

    /// Admits a command for one project, and loads the project.
    ///
    /// # Errors
    /// Those of [`Control::admit`]; [`ManageError::NoSuchProject`] also if the project does not exist.
    pub async fn project(
        &self,
        by: &Requester,
        command: Command,
        project: ProjectId,
    ) -> Result<Project, ManageError> {
        match by.judge(command, Some(project)) {
            AccessDecision::Unknown => Err(ManageError::NoSuchProject),
            _ => {
                let found = self.projects.find(project).await?.ok_or(ManageError::NoSuchProject)?;
                self.admit(by, command, Some(project)).map(|()| found)
            }
        }
    }

    /// Checks that every project of an access exists, before the access is given.
    ///
    /// # Errors
    /// [`ManageError::Invalid`] if one does not.
    pub async fn projects_exist(&self, access: &Access) -> Result<(), ManageError> {
        for project in access.projects.keys() {
            if self.projects.find(*project).await?.is_none() {
                return Err(ManageError::invalid("project_id", ManageError::NoSuchProject));
            }
        }
        Ok(())
    }

    /// Records a change before it is made. If this fails the change MUST NOT be made.
    pub async fn record(&self, by: &Requester, change: AuditedChange) -> Result<(), StoreError> {
        self.audit.record(by, change).await
    }
}

/// The outcome of recording a use. A store that accepts no writes must not lock out operators who
/// look for the cause.
pub(crate) fn noted(outcome: Result<(), StoreError>) -> Result<(), StoreError> {
    outcome.or_else(|cause| if cause.is_transient() { Ok(()) } else { Err(cause) })
}
