use crate::{Area, Permission, Role};
use dwar_kernel::ProjectId;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

const EVERYTHING: &str = "everything";

/// What an operator or admin token may do: everything, as an owner of the installation, or a role per
/// project.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// Whether the holder is an owner of the installation, with access to every project and to what belongs
    /// to no project.
    pub everything: bool,
    /// The role in each project. A project that is missing here does not exist for the holder.
    pub projects: BTreeMap<ProjectId, Role>,
}

/// Parse error: the text is not the stored form of an [`Access`].
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an access")]
pub struct MalformedAccess;

impl Access {
    /// The access of an owner of the installation.
    pub const fn everything() -> Self {
        Self { everything: true, projects: BTreeMap::new() }
    }

    /// Access to exactly one project, with the given role.
    pub fn one(project: ProjectId, role: Role) -> Self {
        Self { everything: false, projects: BTreeMap::from([(project, role)]) }
    }

    /// Whether the access allows `permission` in the project.
    pub fn may(&self, project: ProjectId, permission: Permission) -> bool {
        self.everything || self.projects.get(&project).is_some_and(|role| role.may(permission))
    }

    /// Whether the access covers what belongs to no project: new projects, signing keys, operations.
    pub const fn may_installation(&self) -> bool {
        self.everything
    }

    /// Whether the holder may see that the project exists.
    pub fn knows(&self, project: ProjectId) -> bool {
        self.everything || self.projects.contains_key(&project)
    }

    /// Whether the holder may see the team of any project.
    pub fn sees_a_team(&self) -> bool {
        let see = Permission::See(Area::Team);
        self.everything || self.projects.values().any(|role| role.may(see))
    }

    /// Whether the holder may give the access `other` to an operator, or take it away: only within projects
    /// whose team the holder may change.
    pub fn grants(&self, other: &Self) -> bool {
        let team = Permission::Change(Area::Team);
        let theirs = || other.projects.keys().all(|project| self.may(*project, team));
        self.everything || (!other.everything && !other.projects.is_empty() && theirs())
    }

    /// Permissions in the project that this access has and `before` had not.
    pub fn gains(&self, before: &Self, project: ProjectId) -> Vec<Permission> {
        let new = |permission: &Permission| {
            self.may(project, *permission) && !before.may(project, *permission)
        };
        Permission::all().filter(new).collect()
    }

    /// Whether this access allows anything, in any project, that `before` did not.
    pub fn rises_above(&self, before: &Self) -> bool {
        let beyond = self.may_installation() && !before.may_installation();
        beyond || self.projects.keys().any(|project| !self.gains(before, *project).is_empty())
    }

    /// The only project of this access; `None` if there are several, or none.
    pub fn project(&self) -> Option<ProjectId> {
        let mut projects = self.projects.keys();
        projects.next().copied().filter(|_| !self.everything && projects.next().is_none())
    }
}

/// The stored form: `everything`, or `PROJECT:ROLE` pairs separated by blanks.
impl fmt::Display for Access {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.everything {
            return out.write_str(EVERYTHING);
        }
        for (number, (project, role)) in self.projects.iter().enumerate() {
            let blank = if number == 0 { "" } else { " " };
            write!(out, "{blank}{project}:{}", role.as_str())?;
        }
        Ok(())
    }
}

impl FromStr for Access {
    type Err = MalformedAccess;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == EVERYTHING {
            return Ok(Self::everything());
        }
        let pair = |word: &str| {
            let (project, role) = word.split_once(':').ok_or(MalformedAccess)?;
            let role = Role::from_word(role).ok_or(MalformedAccess)?;
            Ok((project.parse().map_err(|_| MalformedAccess)?, role))
        };
        let words = text.split(' ').filter(|word| !word.is_empty());
        Ok(Self { everything: false, projects: words.map(pair).collect::<Result<_, _>>()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project(number: u32) -> ProjectId {
        format!("00000000-0000-7000-8000-{number:012}").parse().unwrap()
    }

    #[test]
    fn a_role_counts_in_its_project_alone() {
        let see = Permission::See(Area::Activity);
        let access = Access::one(project(1), Role::Support);
        assert!(access.may(project(1), see));
        assert!(!access.may(project(1), Permission::Unmask));
        assert!(!access.may(project(2), see) && !access.may_installation());
        assert!(!Access::default().may(project(1), see));
        let all = Access::everything();
        assert!(Permission::all().all(|permission| all.may(project(2), permission)));
        assert!(all.may_installation());
    }

    #[test]
    fn a_role_knows_of_its_project_and_an_owner_of_the_team() {
        for role in Role::ALL {
            let access = Access::one(project(1), role);
            assert!(access.knows(project(1)) && !access.knows(project(2)), "{role:?}");
            assert_eq!(access.sees_a_team(), role == Role::Owner, "{role:?}");
        }
        assert!(Access::everything().knows(project(2)) && Access::everything().sees_a_team());
        assert!(!Access::default().knows(project(1)) && !Access::default().sees_a_team());
    }

    #[test]
    fn a_rise_is_anything_that_was_not_allowed_before() {
        let rises = |from: Role, to: Role| {
            Access::one(project(1), to).rises_above(&Access::one(project(1), from))
        };
        for role in Role::ALL {
            assert!(!rises(role, role) && !rises(Role::Owner, role), "{role:?}");
            assert_eq!(rises(role, Role::Owner), role != Role::Owner, "{role:?}");
            let one = Access::one(project(1), role);
            assert!(one.rises_above(&Access::default()) && !Access::default().rises_above(&one));
            assert!(one.rises_above(&Access::one(project(2), Role::Owner)), "another project");
            assert!(Access::everything().rises_above(&one));
            assert!(!one.rises_above(&Access::everything()));
        }
        assert!(rises(Role::Viewer, Role::Member) && rises(Role::Support, Role::Viewer));
        assert!(!rises(Role::Viewer, Role::Support) && !rises(Role::Member, Role::Support));
        // A member does not see money; a viewer does.
        let (viewer, member) =
            (Access::one(project(1), Role::Viewer), Access::one(project(1), Role::Member));
        assert_eq!(viewer.gains(&member, project(1)), [Permission::See(Area::Money)]);
    }

    #[test]
    fn nobody_hands_out_more_than_their_own_team() {
        let owner = Access::one(project(1), Role::Owner);
        let both = Access {
            projects: [(project(1), Role::Viewer), (project(2), Role::Viewer)].into(),
            ..Access::default()
        };
        for role in Role::ALL {
            assert!(owner.grants(&Access::one(project(1), role)));
            assert!(!owner.grants(&Access::one(project(2), role)));
            let giver = Access::one(project(1), role);
            let gives = giver.grants(&Access::one(project(1), Role::Viewer));
            assert_eq!(gives, role == Role::Owner);
        }
        assert!(!owner.grants(&both) && !owner.grants(&Access::everything()));
        assert!(!owner.grants(&Access::default()), "an operator without a project");
        let all = Access::everything();
        assert!([&both, &all, &Access::default()].into_iter().all(|other| all.grants(other)));
    }

    #[test]
    fn reads_what_it_wrote() {
        let both = Access {
            projects: [(project(1), Role::Owner), (project(2), Role::Viewer)].into(),
            ..Access::default()
        };
        for access in [Access::default(), Access::everything(), both] {
            assert_eq!(access.to_string().parse(), Ok(access));
        }
        for text in ["all", "x:owner", "owner", "00000000-0000-7000-8000-000000000001:boss"] {
            assert_eq!(text.parse::<Access>(), Err(MalformedAccess), "{text}");
        }
    }

    #[test]
    fn one_project_is_told_and_several_are_not() {
        let one = Access::one(project(1), Role::Viewer);
        assert_eq!(one.project(), Some(project(1)));
        let two = Access { projects: [(project(2), Role::Owner)].into(), ..one.clone() };
        let mut both = one;
        both.projects.extend(two.projects);
        assert_eq!(both.project(), None);
        assert_eq!((Access::everything().project(), Access::default().project()), (None, None));
    }
}
