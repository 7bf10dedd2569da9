use super::text::{id, instant};
use dwar_console::{Invited, SignInState};
use dwar_kernel::OperatorId;
use dwar_operator::Requester;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an operator or a token may do.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Whether it is an owner of the installation, who may do everything.
    #[serde(default)]
    pub(crate) everything: bool,
    /// One role per project.
    #[serde(default)]
    pub(crate) projects: Vec<RoleInProject>,
}

/// A role in a project.
#[derive(Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoleInProject {
    #[schema(format = "uuid")]
    pub(crate) project_id: String,
    pub(crate) role: Role,
}

/// Role in a project.
#[derive(Clone, Copy, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    Owner,
    Member,
    Support,
    Viewer,
}

/// A person who signs in to the dashboard.
#[derive(Serialize, ToSchema)]
pub struct Operator {
    #[schema(format = "uuid")]
    operator_id: String,
    /// Sign-in name.
    name: String,
    access: Access,
    /// Whether they have set a password.
    password: bool,
    /// Whether they have a second factor.
    totp: bool,
    /// Number of passkeys.
    passkeys: usize,
    /// When the last lock of a browser or network of the operator ends; null if none is locked.
    #[schema(format = "date-time")]
    locked_until: Option<String>,
    /// Until when browsers that are new to the operator have to wait, after too many failed
    /// sign-ins with this name; null if they need not.
    #[schema(format = "date-time")]
    slowed_until: Option<String>,
    #[schema(format = "date-time")]
    created_at: String,
    #[schema(format = "date-time")]
    signed_in_at: Option<String>,
}

/// An operator who was just invited.
#[derive(Serialize, ToSchema)]
pub struct InvitedOperator {
    operator: Operator,
    /// Shown only once; works once.
    pub link: String,
    #[schema(format = "date-time")]
    expires_at: String,
}

/// An operator who was removed.
#[derive(Serialize, ToSchema)]
pub struct RemovedOperator {
    #[schema(format = "uuid")]
    operator_id: String,
    removed: bool,
}

impl Access {
    /// Makes the view of an access, limited to the projects that the caller may see.
    pub fn seen_by(by: &Requester, access: &dwar_operator::Access) -> Self {
        let known = access.projects.iter().filter(|(project, _)| by.access.knows(**project));
        let role = known
            .map(|(project, role)| RoleInProject { project_id: id(project), role: (*role).into() });
        Self { everything: access.everything, projects: role.collect() }
    }
}

impl Operator {
    /// Makes the view of an operator; their access is limited to the projects that the caller may
    /// see.
    pub fn seen_by(
        by: &Requester,
        operator: &dwar_operator::Operator,
        state: &SignInState,
    ) -> Self {
        Self {
            operator_id: id(operator.id),
            name: id(&operator.name),
            access: Access::seen_by(by, &operator.access),
            password: operator.password.is_some(),
            totp: operator.totp.is_some(),
            passkeys: state.passkeys.len(),
            locked_until: state.lockout.locked_until.map(instant),
            slowed_until: state.lockout.slowed_until.map(instant),
            created_at: instant(operator.created_at),
            signed_in_at: operator.signed_in_at.map(instant),
        }
    }
}

impl InvitedOperator {
    /// Makes the view of an invitation with a link to the dashboard at this address.
    pub fn new(by: &Requester, invited: &Invited, dashboard: &str) -> Self {
        Self {
            operator: Operator::seen_by(by, &invited.operator, &SignInState::default()),
            // The secret is in the fragment, which no browser sends and no server logs.
            link: format!("{dashboard}/invite#{}", invited.secret.expose()),
            expires_at: instant(invited.expires_at),
        }
    }
}

impl From<OperatorId> for RemovedOperator {
    fn from(operator: OperatorId) -> Self {
        Self { operator_id: id(operator), removed: true }
    }
}

impl From<Role> for dwar_operator::Role {
    fn from(word: Role) -> Self {
        match word {
            Role::Owner => Self::Owner,
            Role::Member => Self::Member,
            Role::Support => Self::Support,
            Role::Viewer => Self::Viewer,
        }
    }
}

impl From<dwar_operator::Role> for Role {
    fn from(role: dwar_operator::Role) -> Self {
        match role {
            dwar_operator::Role::Owner => Self::Owner,
            dwar_operator::Role::Member => Self::Member,
            dwar_operator::Role::Support => Self::Support,
            dwar_operator::Role::Viewer => Self::Viewer,
        }
    }
}
