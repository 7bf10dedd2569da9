use crate::{AdminError, Toolbox};
use dwar_kernel::{AuditId, Phone, ProjectId};
use dwar_operator::{
    Action, Area, AuditCursor, AuditEntry, AuditFilter, AuditStore, By, Facts, Permission,
};
use std::sync::Arc;

/// Writes down what those who run the service change, and shows it (docs/adr/0029).
#[derive(Clone)]
pub struct Audit {
    pub tools: Toolbox,
    pub entries: Arc<dyn AuditStore>,
}

/// A change that is about to be made, as its line in the log tells it.
#[derive(Clone, Debug)]
pub struct Change {
    action: Action,
    subject: String,
    project: Option<ProjectId>,
    before: Option<Facts>,
    after: Option<Facts>,
}

impl Change {
    /// What is done, and to what: an id, a name, a masked number.
    pub fn new(action: Action, subject: impl ToString) -> Self {
        Self { action, subject: subject.to_string(), project: None, before: None, after: None }
    }

    /// The project it is about.
    #[must_use]
    pub fn within(self, project: ProjectId) -> Self {
        Self { project: Some(project), ..self }
    }

    /// What it is.
    #[must_use]
    pub fn before(self, facts: Facts) -> Self {
        Self { before: Some(facts), ..self }
    }

    /// What it is to be.
    #[must_use]
    pub fn after(self, facts: Facts) -> Self {
        Self { after: Some(facts), ..self }
    }
}

impl Audit {
    /// Writes a change down before it is made; every change goes through here.
    ///
    /// # Errors
    /// [`AdminError::Forbidden`] if whoever asks may not do this; then nothing is written. Where
    /// there is an error the change MUST NOT be made.
    pub async fn record(&self, by: &By, change: Change) -> Result<(), AdminError> {
        let Change { action, subject, project, before, after } = change;
        if !by.may(action, project) {
            tracing::warn!(action = action.as_str(), actor = %by.actor, "refused for want of a right");
            return Err(AdminError::Forbidden);
        }
        let at = self.tools.now();
        let entry = AuditEntry {
            id: AuditId::new(at, self.tools.entropy.as_ref()),
            at,
            actor: by.actor.clone(),
            from: by.from,
            project,
            action,
            subject,
            before: before.map(|facts| facts.to_json()),
            after: after.map(|facts| facts.to_json()),
        };
        Ok(self.entries.append(entry).await?)
    }

    /// Lets somebody see a phone number in full, and writes down that they did.
    pub async fn unmask(
        &self,
        by: &By,
        project: ProjectId,
        phone: &Phone,
    ) -> Result<(), AdminError> {
        self.record(by, Change::new(Action::PhoneUnmasked, phone).within(project)).await
    }

    /// The log, newest first, at most `limit` entries from after `after` on.
    ///
    /// # Errors
    /// [`AdminError::Forbidden`] unless whoever asks sees the team of the project that the filter
    /// names, or owns the installation.
    pub async fn page(
        &self,
        by: &By,
        filter: AuditFilter,
        after: Option<AuditCursor>,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, AdminError> {
        let allowed = match filter.project {
            Some(project) => by.access.may(project, Permission::See(Area::Team)),
            None => by.access.may_installation(),
        };
        if !allowed {
            return Err(AdminError::Forbidden);
        }
        Ok(self.entries.page(filter, after, limit).await?)
    }
}
