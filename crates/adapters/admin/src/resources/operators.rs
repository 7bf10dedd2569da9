use crate::endpoint::admin_request::AdminRequest;
use crate::endpoint::answer::Answered;
use crate::endpoint::body::Nothing;
use crate::endpoint::operation::{Operation, delete, get, post, put};
use crate::endpoint::query::Paging;
use crate::endpoint::refusal::{AdminCode, ApiRefusal};
use crate::views::{Page, id, instant};
use dwar_kernel::{OperatorId, ProjectId};
use dwar_operator::{Access, Command, Operator, Role};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/operators", Command::ListOperators, "Those whom the token may see, oldest first")
            .to(list),
        post(
            "/operators",
            Command::InviteOperator,
            "Somebody new; the link by which they choose a password is in this one answer",
        )
        .makes()
        .to(invite),
        put(
            "/operators/{operator}/access",
            Command::ChangeOperator,
            "What somebody may do, for their very next request",
        )
        .to(change),
        delete(
            "/operators/{operator}",
            Command::RemoveOperator,
            "Removes somebody, and ends their sessions",
        )
        .to(remove),
    ]
}

/// What somebody may do, or a token.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Access)]
pub(crate) struct AccessBody {
    /// An owner of the installation.
    #[serde(default)]
    everything: bool,
    /// One role per project.
    #[serde(default)]
    projects: Vec<RoleInProject>,
}

/// A role in a project.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct RoleInProject {
    #[schema(format = "uuid")]
    project_id: String,
    role: RoleWord,
}

/// What somebody is in a project.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Role)]
enum RoleWord {
    Owner,
    Member,
    Support,
    Viewer,
}

/// Somebody who runs the service, or part of it.
#[derive(Serialize, ToSchema)]
#[schema(as = Operator)]
struct OperatorBody {
    #[schema(format = "uuid")]
    operator_id: String,
    /// What they sign in with.
    name: String,
    access: AccessBody,
    /// Whether they have chosen one.
    password: bool,
    /// Whether they have a second factor.
    totp: bool,
    #[schema(format = "date-time")]
    created_at: String,
    #[schema(format = "date-time")]
    signed_in_at: Option<String>,
}

/// Somebody to be invited.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Invitation {
    /// What they sign in with.
    name: String,
    access: AccessBody,
}

/// Somebody who was just invited.
#[derive(Serialize, ToSchema)]
struct InvitedOperator {
    operator: OperatorBody,
    /// Shown this once; works once.
    link: String,
    #[schema(format = "date-time")]
    expires_at: String,
}

/// Somebody who was removed.
#[derive(Serialize, ToSchema)]
struct RemovedOperator {
    #[schema(format = "uuid")]
    operator_id: String,
    removed: bool,
}

async fn list(call: AdminRequest, paging: Paging, _: Nothing) -> Answered<Page<OperatorBody>> {
    let operators = call.api.manage.operators.list(&call.by).await?;
    Page::of(&operators, &paging, |one| one.id, |one| view(&call, one))
}

async fn invite(call: AdminRequest, _: Nothing, body: Invitation) -> Answered<InvitedOperator> {
    let access = body.access.read()?;
    let invited = call.api.manage.operators.invite(&call.by, &body.name, access).await?;
    Ok(InvitedOperator {
        operator: view(&call, &invited.operator),
        link: format!("{}/invite#{}", call.api.dashboard_url, invited.secret.expose()),
        expires_at: instant(invited.expires_at),
    })
}

async fn change(call: AdminRequest, _: Nothing, body: AccessBody) -> Answered<OperatorBody> {
    let operator = find(&call).await?;
    let access = body.read()?;
    call.api.manage.operators.change_access(&call.by, operator.id, access.clone()).await?;
    Ok(view(&call, &Operator { access, ..operator }))
}

async fn remove(call: AdminRequest, _: Nothing, _: Nothing) -> Answered<RemovedOperator> {
    let operator = find(&call).await?;
    call.api.manage.operators.remove(&call.by, operator.id).await?;
    Ok(RemovedOperator { operator_id: id(operator.id), removed: true })
}

/// The operator of the path; whom the token may not see is not there.
async fn find(call: &AdminRequest) -> Answered<Operator> {
    let wanted: OperatorId = call.part("operator")?;
    let mut seen = call.api.manage.operators.list(&call.by).await?.into_iter();
    seen.find(|one| one.id == wanted).ok_or_else(|| AdminCode::NotFound.into())
}

impl AccessBody {
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

    /// As much of an access as this token may know of.
    pub(crate) fn seen_by(call: &AdminRequest, access: &Access) -> Self {
        let known = access.projects.iter().filter(|(project, _)| call.by.access.knows(**project));
        let role = |(project, role): (&ProjectId, &Role)| RoleInProject {
            project_id: id(project),
            role: (*role).into(),
        };
        Self { everything: access.everything, projects: known.map(role).collect() }
    }
}

fn view(call: &AdminRequest, operator: &Operator) -> OperatorBody {
    OperatorBody {
        operator_id: id(operator.id),
        name: operator.name.to_string(),
        access: AccessBody::seen_by(call, &operator.access),
        password: operator.password.is_some(),
        totp: operator.totp.is_some(),
        created_at: instant(operator.created_at),
        signed_in_at: operator.signed_in_at.map(instant),
    }
}

impl From<RoleWord> for Role {
    fn from(word: RoleWord) -> Self {
        match word {
            RoleWord::Owner => Self::Owner,
            RoleWord::Member => Self::Member,
            RoleWord::Support => Self::Support,
            RoleWord::Viewer => Self::Viewer,
        }
    }
}

impl From<Role> for RoleWord {
    fn from(role: Role) -> Self {
        match role {
            Role::Owner => Self::Owner,
            Role::Member => Self::Member,
            Role::Support => Self::Support,
            Role::Viewer => Self::Viewer,
        }
    }
}
