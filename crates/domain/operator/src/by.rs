use crate::{Access, Actor, AdminToken, Command, Need, Operator, Verdict};
use dwar_kernel::ProjectId;
use std::net::IpAddr;

/// Who asks for a change, from where, and what they may do; every change takes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct By {
    /// Who it is, as the audit log says it.
    pub actor: Actor,
    /// The address the request came from, as far as it is known.
    pub from: Option<IpAddr>,
    /// What they may do.
    pub access: Access,
}

impl By {
    /// Whoever has the machine: may do everything.
    pub const fn command_line() -> Self {
        Self { actor: Actor::CommandLine, from: None, access: Access::everything() }
    }

    /// An operator, as of this request.
    pub fn operator(operator: &Operator, from: Option<IpAddr>) -> Self {
        let (id, name) = (operator.id, operator.name.to_string());
        Self { actor: Actor::Operator { id, name }, from, access: operator.access.clone() }
    }

    /// A token of the admin API.
    pub fn token(token: &AdminToken, from: Option<IpAddr>) -> Self {
        let (id, name) = (token.id, token.name.clone());
        Self { actor: Actor::Token { id, name }, from, access: token.access.clone() }
    }

    /// What is said to a command of theirs, about this project if it is about one.
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
