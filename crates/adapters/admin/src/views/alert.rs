use super::text::{id, instant};
use dwar_console::alerts;
use serde::Serialize;
use utoipa::ToSchema;

/// Something that needs a person now. It is gone from the list when it is over.
#[derive(Serialize, ToSchema)]
pub struct Alert {
    /// Its kind, such as `provider_auth`.
    kind: String,
    /// `page`: somebody has to look now; `ticket`: a working day is soon enough.
    severity: String,
    /// The project that it concerns; null for the installation.
    #[schema(format = "uuid")]
    project_id: Option<String>,
    /// The provider, project, address or part that is meant.
    subject: String,
    /// What is so, in a sentence.
    title: String,
    /// The cause, such as the status and the code of a provider.
    detail: String,
    /// Since when, by what is on record; null if that is unknown.
    #[schema(format = "date-time")]
    since: Option<String>,
    /// The section of the documentation that says what to do.
    runbook: String,
}

impl From<&alerts::Alert> for Alert {
    fn from(alert: &alerts::Alert) -> Self {
        Self {
            kind: id(alert.kind),
            severity: id(alert.kind.severity()),
            project_id: alert.project.map(id),
            subject: alert.subject.clone(),
            title: alert.title(),
            detail: alert.detail.clone(),
            since: alert.since.map(instant),
            runbook: alert.kind.runbook().to_owned(),
        }
    }
}
