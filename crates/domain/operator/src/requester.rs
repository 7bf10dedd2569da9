use crate::{
    Access, AccessDecision, Actor, AdminToken, Command, CreatedCredential, Operator, RequiredAccess,
};
use dwar_kernel::{ProjectId, SearcherId};
use std::net::IpAddr;

/// Who asks for a change, from which address and with which rights. Every use case that changes something
/// takes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requester {
    /// The author, as recorded in the audit log.
    pub actor: Actor,
    /// Address that the request came from, if known.
    pub from: Option<IpAddr>,
    pub access: Access,
    /// Whether the caller may make things that outlive a token ([`Command::makes`]). Only some tokens may: a
    /// thief of any other token has nothing left when it expires or is revoked.
    pub may_delegate: bool,
}

impl Requester {
    /// A user of the command line, who has access to the machine and may do everything.
    pub const fn command_line() -> Self {
        Self {
            actor: Actor::CommandLine,
            from: None,
            access: Access::everything(),
            may_delegate: true,
        }
    }

    /// An operator, with the access of this moment.
    pub fn operator(operator: &Operator, from: Option<IpAddr>) -> Self {
        let (id, name) = (operator.id, operator.name.to_string());
        let (actor, access) = (Actor::Operator { id, name }, operator.access.clone());
        Self { actor, from, access, may_delegate: true }
    }

    /// A program with a token of the admin API.
    pub fn token(token: &AdminToken, from: Option<IpAddr>) -> Self {
        let (id, name) = (token.id, token.name.clone());
        let (actor, access) = (Actor::Token { id, name }, token.access.clone());
        Self { actor, from, access, may_delegate: token.may_delegate }
    }

    /// Identifies the caller in limits on searches, over all projects: an operator or a token. Callers who
    /// see masked numbers cannot make tokens, so making tokens cannot multiply searches. `None` for the
    /// command line.
    pub fn searcher(&self) -> Option<SearcherId> {
        match &self.actor {
            Actor::CommandLine => None,
            Actor::Operator { id, .. } => Some(id.uuid().into()),
            Actor::Token { id, .. } => Some(id.uuid().into()),
        }
    }

    /// Whether the caller may give `command`, for `project` if the command concerns one.
    pub fn judge(&self, command: Command, project: Option<ProjectId>) -> AccessDecision {
        let verdict = match (command.needs(), &self.actor) {
            (RequiredAccess::Machine, Actor::CommandLine) => AccessDecision::Allowed,
            _ => command.judge(&self.access, project),
        };
        match verdict {
            AccessDecision::Allowed
                if !self.may_delegate && command.makes() != CreatedCredential::Nothing =>
            {
                AccessDecision::Undelegated
            }
            verdict => verdict,
        }
    }

    /// Whether [`Requester::judge`] allows the command to this caller.
    pub fn may(&self, command: Command, project: Option<ProjectId>) -> bool {
        self.judge(command, project) == AccessDecision::Allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;

    #[test]
    fn a_token_makes_what_outlives_it_only_where_it_was_made_for_that() {
        let project = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        for access in [Access::everything(), Access::one(project, Role::Owner)] {
            let by = |may_delegate| {
                let id = "00000000-0000-7000-8000-000000000002".parse().unwrap();
                let actor = Actor::Token { id, name: "ci".to_owned() };
                Requester {
                    actor,
                    access: access.clone(),
                    may_delegate,
                    ..Requester::command_line()
                }
            };
            for command in Command::ALL {
                let may = by(true).judge(command, Some(project));
                let may_not = by(false).judge(command, Some(project));
                let makes = command.makes() != CreatedCredential::Nothing;
                if makes && may == AccessDecision::Allowed {
                    assert_eq!(may_not, AccessDecision::Undelegated, "{command}");
                } else {
                    assert_eq!(may_not, may, "{command}");
                }
            }
        }
    }
}
