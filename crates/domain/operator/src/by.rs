use crate::{Access, Actor, AdminToken, Command, Need, Operator, Verdict};
use dwar_kernel::{ProjectId, SearcherId};
use std::net::IpAddr;

/// Who asks for a change, from where, and what they may do; every change takes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    /// Who it is, as the audit log names them.
    pub actor: Actor,
    /// The address the request came from, as far as it is known.
    pub from: Option<IpAddr>,
    /// What they may do.
    pub access: Access,
    /// Whether they may give others what they have. Only some tokens may: a thief of one that may
    /// not has nothing left when it expires or is revoked.
    pub may_delegate: bool,
}

/// Why somebody cannot give an access to somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotGrant {
    /// It is a token that was not made for that.
    #[error("this token was not made with the right to invite operators and to make tokens")]
    Delegation,
    /// It goes beyond what is theirs.
    #[error("your role does not allow this")]
    Access,
}

impl By {
    /// Somebody with access to the machine: may do everything.
    pub const fn command_line() -> Self {
        Self {
            actor: Actor::CommandLine,
            from: None,
            access: Access::everything(),
            may_delegate: true,
        }
    }

    /// An operator, as of this request.
    pub fn operator(operator: &Operator, from: Option<IpAddr>) -> Self {
        let (id, name) = (operator.id, operator.name.to_string());
        let (actor, access) = (Actor::Operator { id, name }, operator.access.clone());
        Self { actor, from, access, may_delegate: true }
    }

    /// A token of the admin API.
    pub fn token(token: &AdminToken, from: Option<IpAddr>) -> Self {
        let (id, name) = (token.id, token.name.clone());
        let (actor, access) = (Actor::Token { id, name }, token.access.clone());
        Self { actor, from, access, may_delegate: token.may_delegate }
    }

    /// Whose searches are counted together, in all projects: an operator's, or a token's. Nobody who
    /// sees numbers masked can make a token, so making tokens cannot multiply searches. `None` for
    /// the command line.
    pub fn searcher(&self) -> Option<SearcherId> {
        match &self.actor {
            Actor::CommandLine => None,
            Actor::Operator { id, .. } => Some(id.uuid().into()),
            Actor::Token { id, .. } => Some(id.uuid().into()),
        }
    }

    /// Whether they may give this access to an operator or to a token, or take it from an operator: the
    /// only rule for this.
    ///
    /// # Errors
    /// [`CannotGrant`] if they may not.
    pub fn may_grant(&self, access: &Access) -> Result<(), CannotGrant> {
        if !self.may_delegate {
            Err(CannotGrant::Delegation)
        } else if !self.access.grants(access) {
            Err(CannotGrant::Access)
        } else {
            Ok(())
        }
    }

    /// The verdict on a command of theirs, about this project if it is about one.
    pub fn judge(&self, command: Command, project: Option<ProjectId>) -> Verdict {
        match (command.needs(), &self.actor) {
            (Need::Machine, Actor::CommandLine) => Verdict::Allowed,
            _ => command.judge(&self.access, project),
        }
    }

    /// Whether they may give a command.
    pub fn may(&self, command: Command, project: Option<ProjectId>) -> bool {
        self.judge(command, project) == Verdict::Allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    #[test]
    fn a_token_gives_only_where_it_was_made_for_that_and_never_more_than_it_has() {
        let project = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let viewer = Access::one(project, Role::Viewer);
        for access in [Access::everything(), Access::one(project, Role::Owner)] {
            let by =
                |may_delegate| By { access: access.clone(), may_delegate, ..By::command_line() };
            assert_eq!(by(false).may_grant(&viewer), Err(CannotGrant::Delegation));
            assert_eq!(by(true).may_grant(&viewer), Ok(()));
        }
        for role in [Role::Member, Role::Support, Role::Viewer] {
            let by = By { access: Access::one(project, role), ..By::command_line() };
            assert_eq!(by.may_grant(&viewer), Err(CannotGrant::Access), "{role:?}");
        }
        let owner = By { access: Access::one(project, Role::Owner), ..By::command_line() };
        assert_eq!(owner.may_grant(&Access::everything()), Err(CannotGrant::Access));
    }
}
