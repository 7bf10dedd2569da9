use crate::endpoint::{AdminRequest, AdminResult, Operation, ProjectRequest, get};
use crate::views::{Alert, Page};
use dwar_operator::Command;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/alerts", Command::ListAlerts, list)
            .summary("List open alerts, the most urgent first"),
        get("/projects/{project}/alerts", Command::ListProjectAlerts, list_of_project)
            .summary("List open alerts of a project and of the providers that it uses"),
    ]
}

async fn list(call: AdminRequest) -> AdminResult<Page<Alert>> {
    let alerts = call.api.manage.alerts.list(&call.by).await?;
    Ok(Page::whole(alerts.iter().map(Alert::from)))
}

async fn list_of_project(at: ProjectRequest) -> AdminResult<Page<Alert>> {
    let alerts = at.api.manage.alerts.of_project(&at.by, at.project).await?;
    Ok(Page::whole(alerts.iter().map(Alert::from)))
}
