use dwar_kernel::{Event, EventKind, IdentityId, ProjectMode, Sealed, Subject, Timestamp};

/// A phone number that a project has verified at least once in one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The `sub` claim of its access tokens.
    pub id: IdentityId,
    pub world: ProjectMode,
    pub phone: Sealed,
    /// Time of the first verification.
    pub created_at: Timestamp,
    /// Time of the last verification.
    pub last_verified_at: Timestamp,
}

/// Result of erasing an identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erased {
    /// Sessions that were valid until the erasure.
    pub sessions_revoked: u64,
}

impl Erased {
    /// The event of the erasure.
    pub const fn event(self, world: ProjectMode, identity: IdentityId, at: Timestamp) -> Event {
        let subject = Subject::Identity { identity, sessions_revoked: self.sessions_revoked };
        Event { world, kind: EventKind::IdentityDeleted, subject, at }
    }
}
