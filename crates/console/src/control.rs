use crate::{Audit, AuditedChange, ManageError};
use dwar_app::Toolbox;
use dwar_kernel::{ProjectId, StoreError};
use dwar_operator::{Access, By, Command, Verdict};
use dwar_project::{Project, ProjectStore};
use std::sync::Arc;

/// What every command of those who run the service goes through: who may give it, about which project;
/// and its entry in the audit log.
#[derive(Clone)]
pub struct Control {
    /// The time, ids and secrets of every command.
    pub tools: Toolbox,
    pub projects: Arc<dyn ProjectStore>,
    pub audit: Audit,
}

impl Control {
    /// Lets a command through that is about no single project, or whose project is known to exist.
    ///
    /// # Errors
    /// [`ManageError::Forbidden`] if a right is missing, [`ManageError::MayNotDelegate`] if it is that of a
    /// token to make what outlives it, [`ManageError::NoSuchProject`] if the caller may not even know of the
    /// project.
    pub fn admit(
        &self,
        by: &By,
        command: Command,
        project: Option<ProjectId>,
    ) -> Result<(), ManageError> {
        match by.judge(command, project) {
            Verdict::Allowed => Ok(()),
            Verdict::Unknown => Err(ManageError::NoSuchProject),
            Verdict::Forbidden => {
                tracing::warn!(%command, actor = %by.actor, "refused: the role does not allow it");
                Err(ManageError::Forbidden)
            }
            Verdict::Undelegated => {
                tracing::warn!(%command, actor = %by.actor, "refused: the token may not delegate");
                Err(ManageError::MayNotDelegate)
            }
        }
    }

    /// Whether somebody may give this access to an operator or to a token, or take it from an operator.
    ///
    /// # Errors
    /// [`ManageError::Forbidden`] if it goes beyond what is theirs.
    pub fn may_grant(&self, by: &By, access: &Access) -> Result<(), ManageError> {
        if by.access.grants(access) { Ok(()) } else { Err(ManageError::Forbidden) }
    }

    /// The project that a command is about.
    ///
    /// # Errors
    /// As [`Control::admit`]; [`ManageError::NoSuchProject`] also if there is none.
    pub async fn project(
        &self,
        by: &By,
        command: Command,
        project: ProjectId,
    ) -> Result<Project, ManageError> {
        match by.judge(command, Some(project)) {
            Verdict::Unknown => Err(ManageError::NoSuchProject),
            _ => {
                let found = self.projects.find(project).await?.ok_or(ManageError::NoSuchProject)?;
                self.admit(by, command, Some(project)).map(|()| found)
            }
        }
    }

    /// Checks that every project of an access to be given exists.
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
    pub async fn record(&self, by: &By, change: AuditedChange) -> Result<(), StoreError> {
        self.audit.record(by, change).await
    }
}
