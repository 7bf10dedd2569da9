use dwar_kernel::{AlertKind, ProjectId, Timestamp};

/// A fault in a row that many times is no accident. Refused credentials are none the first time.
pub(super) const FAULTS: usize = 3;

/// Something that needs a person now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alert {
    pub kind: AlertKind,
    /// The project that it concerns; `None` for the installation.
    pub project: Option<ProjectId>,
    /// What tells it from others of its kind.
    pub about: String,
    /// The provider, project, address or part that is meant, as people call it.
    pub subject: String,
    pub detail: String,
    /// Since when, by what is on record; `None` if that is unknown.
    pub since: Option<Timestamp>,
}

impl Alert {
    /// One of the installation about this part of it.
    pub(super) fn new(kind: AlertKind, subject: impl Into<String>, detail: String) -> Self {
        let subject = subject.into();
        Self { kind, project: None, about: subject.clone(), subject, detail, since: None }
    }

    /// What is so, in a sentence without its cause.
    pub fn title(&self) -> String {
        format!("{} {}", self.subject, self.kind.means())
    }
}
