use dwar_kernel::words;

words! {
    Role {
        /// May do everything in the project.
        Owner = "owner",
        /// May do everything except for money, the team, and what works by itself: keys, hooks,
        /// webhooks.
        Member = "member",
        /// May find out why a code did not arrive; sees no phone number.
        Support = "support",
        /// May look at figures and settings; sees no phone number.
        Viewer = "viewer",
    }
}

words! {
    /// A part of a project that a role may see or change.
    Area {
        /// Figures and charts.
        Overview = "overview",
        /// Requests, and why a code did not arrive. A change is to unlock a phone.
        Activity = "activity",
        /// Switches, providers, texts. A change is also to test a webhook, or to send it an event
        /// again.
        Settings = "settings",
        /// API keys. A change is also to add, replace or remove hooks and webhooks, which work by
        /// themselves as keys do.
        Keys = "keys",
        /// Wallet and prices.
        Money = "money",
        /// Identities and their sessions.
        Identities = "identities",
        /// The whole login flow in test mode.
        Playground = "playground",
        /// Operators, admin tokens, audit log.
        Team = "team",
    }
}

/// A single right in a project, which a role includes or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    See(Area),
    Change(Area),
    Unmask,
}

impl Role {
    /// Whether the role includes the permission; the only table of roles.
    pub const fn may(self, permission: Permission) -> bool {
        use Area::{Activity, Identities, Money, Overview, Playground, Settings};
        use Permission::{Change, See, Unmask};
        match self {
            Self::Owner => true,
            Self::Member => matches!(
                permission,
                See(Overview | Activity | Settings | Identities | Playground)
                    | Change(Activity | Settings | Identities | Playground)
                    | Unmask
            ),
            Self::Support => matches!(permission, See(Activity)),
            Self::Viewer => matches!(permission, See(Overview | Activity | Settings | Money)),
        }
    }
}

impl Permission {
    /// All permissions, area by area, then [`Permission::Unmask`].
    pub fn all() -> impl Iterator<Item = Self> {
        let areas = Area::ALL.into_iter().flat_map(|area| [Self::See(area), Self::Change(area)]);
        areas.chain([Self::Unmask])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One row per permission: `o` owner, `m` member, `s` support, `v` viewer.
    const TABLE: [(Permission, &str); 17] = [
        (Permission::See(Area::Overview), "omv"),
        (Permission::Change(Area::Overview), "o"),
        (Permission::See(Area::Activity), "omsv"),
        (Permission::Change(Area::Activity), "om"),
        (Permission::See(Area::Settings), "omv"),
        (Permission::Change(Area::Settings), "om"),
        (Permission::See(Area::Keys), "o"),
        (Permission::Change(Area::Keys), "o"),
        (Permission::See(Area::Money), "ov"),
        (Permission::Change(Area::Money), "o"),
        (Permission::See(Area::Identities), "om"),
        (Permission::Change(Area::Identities), "om"),
        (Permission::See(Area::Playground), "om"),
        (Permission::Change(Area::Playground), "om"),
        (Permission::See(Area::Team), "o"),
        (Permission::Change(Area::Team), "o"),
        (Permission::Unmask, "om"),
    ];

    #[test]
    fn whoever_may_see_identities_may_see_their_numbers() {
        for role in Role::ALL {
            let sees = role.may(Permission::See(Area::Identities));
            assert!(
                !sees || role.may(Permission::Unmask),
                "{role:?}: searches by number would not be counted"
            );
        }
    }

    #[test]
    fn each_role_may_what_the_table_says() {
        assert_eq!(TABLE.map(|(permission, _)| permission).to_vec(), {
            Permission::all().collect::<Vec<_>>()
        });
        for (permission, who) in TABLE {
            for role in Role::ALL {
                let wanted = who.contains(&role.as_str()[..1]);
                assert_eq!(role.may(permission), wanted, "{role:?} {permission:?}");
            }
        }
    }
}
