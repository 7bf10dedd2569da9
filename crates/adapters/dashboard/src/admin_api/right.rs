use super::refusal::{AdminCode, ApiRefusal};
use dwar_operator::{Access, Area, Permission};
use std::fmt;

/// What a token needs to call an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Right {
    /// Any role anywhere; the answer holds what the token may know of.
    Any,
    /// To see the team of some project.
    Team,
    /// To be an owner of the installation.
    Installation,
    /// This permission in the project of the path.
    Project(Permission),
}

impl Right {
    /// What can be said before it is known which project it is about.
    pub(crate) fn check(self, access: &Access) -> Result<(), ApiRefusal> {
        let admitted = match self {
            Self::Any | Self::Project(_) => true,
            Self::Team => access.sees_a_team(),
            Self::Installation => access.may_installation(),
        };
        if admitted { Ok(()) } else { Err(AdminCode::Forbidden.into()) }
    }
}

/// As the document has it: `see keys`, `change money`, `installation`.
impl fmt::Display for Right {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => out.write_str("any"),
            Self::Team => out.write_str("team"),
            Self::Installation => out.write_str("installation"),
            Self::Project(Permission::See(area)) => write!(out, "see {}", word(*area)),
            Self::Project(Permission::Change(area)) => write!(out, "change {}", word(*area)),
            Self::Project(Permission::Unmask) => out.write_str("unmask"),
        }
    }
}

const fn word(area: Area) -> &'static str {
    match area {
        Area::Overview => "overview",
        Area::Activity => "activity",
        Area::Settings => "settings",
        Area::Keys => "keys",
        Area::Money => "money",
        Area::Identities => "identities",
        Area::Playground => "playground",
        Area::Team => "team",
    }
}
