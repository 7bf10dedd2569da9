use dwar_app::CommonPorts;
use dwar_kernel::{AuditId, ProjectId, StoreError};
use dwar_operator::{Action, AuditDetails, AuditEntry, AuditStore, Requester};
use std::sync::Arc;

/// Records the changes of operators in the audit log (docs/adr/0029).
#[derive(Clone)]
pub struct AuditRecorder {
    pub tools: CommonPorts,
    pub entries: Arc<dyn AuditStore>,
}

/// A change that is about to be made, with the content of its audit entry.
#[derive(Clone, Debug)]
pub struct AuditedChange {
    action: Action,
    subject: String,
    project: Option<ProjectId>,
    before: Option<AuditDetails>,
    after: Option<AuditDetails>,
}

impl AuditedChange {
    /// `subject` is the changed thing: an id, a name, a masked number.
    pub fn new(action: Action, subject: impl ToString) -> Self {
        Self { action, subject: subject.to_string(), project: None, before: None, after: None }
    }

    /// Sets the project concerned; `None` if there is none, or several.
    #[must_use]
    pub fn within(self, project: impl Into<Option<ProjectId>>) -> Self {
        Self { project: project.into(), ..self }
    }

    /// Sets what the entry shows as the state before the change.
    #[must_use]
    pub fn before(self, facts: AuditDetails) -> Self {
        Self { before: Some(facts), ..self }
    }

    /// Sets what the entry shows as the state after the change.
    #[must_use]
    pub fn after(self, facts: AuditDetails) -> Self {
        Self { after: Some(facts), ..self }
    }
}

impl AuditRecorder {
    /// Records a change before it is made; every change is recorded here. If this fails the change MUST NOT
    /// be made.
    pub async fn record(&self, by: &Requester, change: AuditedChange) -> Result<(), StoreError> {
        self.entries.append(self.entry(by, change)).await
    }

    /// The entry of a change, for a step that records it itself.
    pub(crate) fn entry(&self, by: &Requester, change: AuditedChange) -> AuditEntry {
        let AuditedChange { action, subject, project, before, after } = change;
        let at = self.tools.now();
        AuditEntry {
            id: AuditId::new(at, self.tools.entropy.as_ref()),
            at,
            actor: by.actor.clone(),
            from: by.from,
            project,
            action,
            subject,
            before: before.map(|facts| facts.to_json()),
            after: after.map(|facts| facts.to_json()),
        }
    }
}
