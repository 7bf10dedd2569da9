use dwar_kernel::{Event, EventKind, IdentityId, ProjectMode, Sealed, Subject, Timestamp};

/// A phone number that a project has verified at least once in one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The `sub` of its access tokens.
    pub id: IdentityId,
    pub world: ProjectMode,
    pub phone: Sealed,
    /// When it was verified for the first time.
    pub created_at: Timestamp,
    /// When it was verified for the last time.
    pub last_verified_at: Timestamp,
}

/// What a deletion took away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erased {
    /// Sessions of the identity that were alive until then.
    pub sessions_revoked: u64,
}

impl Erased {
    /// The event that tells of it.
    pub const fn event(self, world: ProjectMode, identity: IdentityId, at: Timestamp) -> Event {
        let subject = Subject::Identity { identity, sessions_revoked: self.sessions_revoked };
        Event { world, kind: EventKind::IdentityDeleted, subject, at }
    }
}
