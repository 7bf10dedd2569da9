use dwar_kernel::{
    BlindIndex, Event, EventKind, IdentityId, KeyMode, ProjectId, Sealed, Subject, Timestamp,
};

/// A phone number that a project has verified at least once in one mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The `sub` of its access tokens.
    pub id: IdentityId,
    pub project: ProjectId,
    /// The world it was seen in.
    pub mode: KeyMode,
    /// The phone number, unreadable at rest.
    pub phone: Sealed,
    /// When it was verified first.
    pub created_at: Timestamp,
    /// When it was verified last.
    pub last_verified_at: Timestamp,
}

/// A successful verification of a phone number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// The world it happened in.
    pub mode: KeyMode,
    /// The phone's look-up form.
    pub index: BlindIndex,
    /// The phone number, unreadable at rest.
    pub phone: Sealed,
    /// The id to use if the phone is new.
    pub fresh: IdentityId,
    pub at: Timestamp,
}

/// What a deletion took away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Erased {
    /// Sessions of the identity that were alive until then.
    pub sessions_revoked: u64,
}

impl Erased {
    /// What is to be told of it.
    pub const fn event(
        self,
        project: ProjectId,
        mode: KeyMode,
        identity: IdentityId,
        at: Timestamp,
    ) -> Event {
        let subject = Subject::Identity { identity, sessions_revoked: self.sessions_revoked };
        Event { project, mode, kind: EventKind::IdentityDeleted, subject, at }
    }
}
