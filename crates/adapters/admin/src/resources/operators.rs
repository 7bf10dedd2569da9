use crate::endpoint::{
    AdminCode, AdminRequest, AdminResult, ApiRefusal, Json, Operation, Paging, Query, delete, get,
    post, post_created, put,
};
use crate::views::{self, InvitedOperator, Page, RemovedOperator};
use dwar_kernel::{OperatorId, ProjectId};
use dwar_operator::{Access, Command, Operator};
use serde::Deserialize;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/operators", Command::ListOperators, list)
            .summary("List the operators that the token may see, oldest first"),
        post_created("/operators", Command::InviteOperator, invite)
            .summary("Invite an operator; only this answer holds the link to choose a password")
            .refuses([AdminCode::Conflict]),
        post_created("/operators/{operator}/invitation", Command::RenewInvitation, renew)
            .summary(
                "Renew the invitation of an operator who has not signed in yet; the previous \
                 link stops working",
            )
            .refuses([AdminCode::Conflict]),
        put("/operators/{operator}/access", Command::ChangeOperator, change)
            .summary("Replace what an operator may do; applies immediately"),
        post("/operators/{operator}/unlock", Command::UnlockOperator, unlock)
            .summary("Clear the failed sign-ins of an operator who is locked out or slowed"),
        delete("/operators/{operator}", Command::RemoveOperator, remove)
            .summary("Remove an operator and end their sessions"),
    ]
}

/// An operator to invite.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Invitation {
    /// Sign-in name.
    #[schema(min_length = 1, max_length = 60)]
    name: String,
    access: views::Access,
}

async fn list(
    call: AdminRequest,
    Query(paging): Query<Paging>,
) -> AdminResult<Page<views::Operator>> {
    let manage = &call.api.manage.operators;
    let operators = manage.list(&call.by).await?;
    let states = manage.sign_in_states(&call.by, &operators).await?;
    let view = |one: &Operator| {
        let state = states.get(&one.id).cloned().unwrap_or_default();
        views::Operator::seen_by(&call.by, one, &state)
    };
    Page::of(&operators, &paging, |one| one.id, view)
}

async fn invite(call: AdminRequest, Json(body): Json<Invitation>) -> AdminResult<InvitedOperator> {
    let access = body.access.read()?;
    let invited = call.api.manage.operators.invite(&call.by, &body.name, access).await?;
    Ok(InvitedOperator::new(&call.by, &invited, &call.api.dashboard_url))
}

async fn renew(call: AdminRequest) -> AdminResult<InvitedOperator> {
    let operator = find(&call).await?;
    let invited = call.api.manage.operators.renew_invitation(&call.by, operator.id).await?;
    Ok(InvitedOperator::new(&call.by, &invited, &call.api.dashboard_url))
}

async fn change(
    call: AdminRequest,
    Json(body): Json<views::Access>,
) -> AdminResult<views::Operator> {
    let operator = find(&call).await?;
    let access = body.read()?;
    call.api.manage.operators.change_access(&call.by, operator.id, access.clone()).await?;
    seen(&call, Operator { access, ..operator }).await
}

async fn unlock(call: AdminRequest) -> AdminResult<views::Operator> {
    let operator = find(&call).await?;
    let operator = call.api.manage.operators.unlock(&call.by, operator.id).await?;
    seen(&call, operator).await
}

async fn remove(call: AdminRequest) -> AdminResult<RemovedOperator> {
    let operator = find(&call).await?;
    call.api.manage.operators.remove(&call.by, operator.id).await?;
    Ok(operator.id.into())
}

/// Adds the operator's current ways to sign in.
async fn seen(call: &AdminRequest, operator: Operator) -> AdminResult<views::Operator> {
    let operators = [operator];
    let states = call.api.manage.operators.sign_in_states(&call.by, &operators).await?;
    let [operator] = operators;
    let state = states.into_values().next().unwrap_or_default();
    Ok(views::Operator::seen_by(&call.by, &operator, &state))
}

/// Finds the operator of the path. One that the token may not see is answered as not found.
async fn find(call: &AdminRequest) -> AdminResult<Operator> {
    let wanted: OperatorId = call.part("operator")?;
    let mut seen = call.api.manage.operators.list(&call.by).await?.into_iter();
    seen.find(|one| one.id == wanted).ok_or_else(|| AdminCode::NotFound.into())
}

impl views::Access {
    /// # Errors
    /// An invalid id, a project named twice, or everything together with projects.
    pub(crate) fn read(&self) -> AdminResult<Access> {
        if self.everything && !self.projects.is_empty() {
            return Err(ApiRefusal::field(
                "access",
                "must be either everything or roles in projects",
            ));
        }
        let mut access = Access { everything: self.everything, ..Access::default() };
        for one in &self.projects {
            let project = one.project_id.parse::<ProjectId>();
            let project = project.map_err(|_| ApiRefusal::field("project_id", "must be an id"))?;
            if access.projects.insert(project, one.role.into()).is_some() {
                return Err(ApiRefusal::field("projects", "lists the same project twice"));
            }
        }
        Ok(access)
    }
}
