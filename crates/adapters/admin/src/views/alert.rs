use super::text::{id, instant};
use dwar_console::alerts;
use serde::Serialize;
use utoipa::ToSchema;

/// A problem that a person has to solve. It leaves the list when it is solved.
#[derive(Serialize, ToSchema)]
pub struct Alert {
    /// Kind, such as `provider_auth`.
    kind: String,
    /// `page`: act now; `ticket`: act within a working day.
    severity: String,
    /// Project that it concerns; null for the installation.
    #[schema(format = "uuid")]
    project_id: Option<String>,
    /// Provider, project, address or component that has the problem.
    subject: String,
    /// The problem in one sentence.
    title: String,
    /// Cause, such as the status and error code of a provider.
    detail: String,
    /// Since when the problem exists, as far as recorded; null if unknown.
    #[schema(format = "date-time")]
    since: Option<String>,
    /// Section of the documentation that says what to do.
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
