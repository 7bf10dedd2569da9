use crate::endpoint::{
    AdminCode, AdminRequest, Answered, ApiRefusal, Json, Operation, Paging, Query, delete, get,
    post_created, put,
};
use crate::views::{self, InvitedOperator, Page, RemovedOperator};
use dwar_kernel::{OperatorId, ProjectId};
use dwar_operator::{Access, Command, Operator};
use serde::Deserialize;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/operators", Command::ListOperators, list)
            .summary("Those whom the token may see, oldest first"),
        post_created("/operators", Command::InviteOperator, invite)
            .summary("Somebody new; the link by which they choose a password is in this one answer")
            .refuses([AdminCode::Conflict]),
        post_created("/operators/{operator}/invitation", Command::RenewInvitation, renew)
            .summary(
                "Another link for somebody who has not signed in yet; the one before stops working",
            )
            .refuses([AdminCode::Conflict]),
        put("/operators/{operator}/access", Command::ChangeOperator, change)
            .summary("What somebody may do; applies immediately"),
        delete("/operators/{operator}", Command::RemoveOperator, remove)
            .summary("Removes somebody, and ends their sessions"),
    ]
}

/// Somebody to be invited.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Invitation {
    /// What they sign in with.
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    access: views::Access,
}

async fn list(call: AdminRequest, Query(paging): Query<Paging>) -> Answered<Page<views::Operator>> {
    let operators = call.api.manage.operators.list(&call.by).await?;
    Page::of(&operators, &paging, |one| one.id, |one| views::Operator::seen_by(&call.by, one))
}

async fn invite(call: AdminRequest, Json(body): Json<Invitation>) -> Answered<InvitedOperator> {
    let access = body.access.read()?;
    let invited = call.api.manage.operators.invite(&call.by, &body.name, access).await?;
    Ok(InvitedOperator::new(&call.by, &invited, &call.api.dashboard_url))
}

async fn renew(call: AdminRequest) -> Answered<InvitedOperator> {
    let operator = find(&call).await?;
    let invited = call.api.manage.operators.renew_invitation(&call.by, operator.id).await?;
    Ok(InvitedOperator::new(&call.by, &invited, &call.api.dashboard_url))
}

async fn change(call: AdminRequest, Json(body): Json<views::Access>) -> Answered<views::Operator> {
    let operator = find(&call).await?;
    let access = body.read()?;
    call.api.manage.operators.change_access(&call.by, operator.id, access.clone()).await?;
    Ok(views::Operator::seen_by(&call.by, &Operator { access, ..operator }))
}

async fn remove(call: AdminRequest) -> Answered<RemovedOperator> {
    let operator = find(&call).await?;
    call.api.manage.operators.remove(&call.by, operator.id).await?;
    Ok(operator.id.into())
}

/// The operator of the path; one whom the token may not see is not found.
async fn find(call: &AdminRequest) -> Answered<Operator> {
    let wanted: OperatorId = call.part("operator")?;
    let mut seen = call.api.manage.operators.list(&call.by).await?.into_iter();
    seen.find(|one| one.id == wanted).ok_or_else(|| AdminCode::NotFound.into())
}

impl views::Access {
    /// # Errors
    /// An id that is none, a project twice, or everything and projects at once.
    pub(crate) fn read(&self) -> Answered<Access> {
        if self.everything && !self.projects.is_empty() {
            return Err(ApiRefusal::field("access", "everything, or roles in projects, not both"));
        }
        let mut access = Access { everything: self.everything, ..Access::default() };
        for one in &self.projects {
            let project = one.project_id.parse::<ProjectId>();
            let project = project.map_err(|_| ApiRefusal::field("project_id", "an id"))?;
            if access.projects.insert(project, one.role.into()).is_some() {
                return Err(ApiRefusal::field("projects", "the same project twice"));
            }
        }
        Ok(access)
    }
}
