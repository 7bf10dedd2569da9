use dwar_kernel::{AlertKind, ProjectId, Timestamp};

/// Faults in a row that count as failing. Refused credentials count the first time.
pub(super) const FAULTS: usize = 3;

/// A problem that needs a person now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub kind: AlertKind,
    pub project: Option<ProjectId>,
    /// Tells alerts of one kind apart.
    pub about: String,
    /// Display name of the provider, project, address or part concerned.
    pub subject: String,
    pub detail: String,
    /// Since when the problem exists, as far as recorded; `None` if unknown.
    pub since: Option<Timestamp>,
}

impl Alert {
    /// An alert of the installation about this part of it.
    pub(super) fn new(kind: AlertKind, subject: impl Into<String>, detail: String) -> Self {
        let subject = subject.into();
        Self { kind, project: None, about: subject.clone(), subject, detail, since: None }
    }

    /// The problem in a sentence, without its cause.
    pub fn title(&self) -> String {
        format!("{} {}", self.subject, self.kind.means())
    }
}
