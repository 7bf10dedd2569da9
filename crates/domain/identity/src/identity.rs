use dwar_kernel::{Event, EventKind, IdentityId, ProjectMode, Sealed, Subject, Timestamp};

/// A phone number that a project has verified at least once in one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The `sub` claim of its access tokens.
    pub id: IdentityId,
    pub project_mode: ProjectMode,
    pub phone: Sealed,
    pub created_at: Timestamp,
    pub last_verified_at: Timestamp,
}

/// Result of erasing an identity, with the content of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erased {
    pub sessions_revoked: u64,
}

impl Erased {
    /// The event about the erasure, for endpoints and the feed.
    pub const fn event(
        self,
        project_mode: ProjectMode,
        identity: IdentityId,
        at: Timestamp,
    ) -> Event {
        let subject = Subject::Identity { identity, sessions_revoked: self.sessions_revoked };
        Event { project_mode, kind: EventKind::IdentityDeleted, subject, at }
    }
}
