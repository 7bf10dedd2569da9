use crate::endpoint::{AdminRequest, Answered, Operation, ProjectRequest, get};
use crate::views::{Alert, Page};
use dwar_operator::Command;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/alerts", Command::ListAlerts, list).summary(
            "What needs a person now, the most urgent first; each is gone when it is over",
        ),
        get("/projects/{project}/alerts", Command::ListProjectAlerts, list_of_project)
            .summary("What needs a person now in the project, and of the providers that it uses"),
    ]
}

async fn list(call: AdminRequest) -> Answered<Page<Alert>> {
    let alerts = call.api.manage.alerts.list(&call.by).await?;
    Ok(Page::whole(alerts.iter().map(Alert::from)))
}

async fn list_of_project(at: ProjectRequest) -> Answered<Page<Alert>> {
    let alerts = at.api.manage.alerts.of_project(&at.by, at.project).await?;
    Ok(Page::whole(alerts.iter().map(Alert::from)))
}
