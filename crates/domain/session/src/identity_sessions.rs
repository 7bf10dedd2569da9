use crate::Session;
use async_trait::async_trait;
use dwar_kernel::{IdentityId, ProjectMode, SessionId, StoreError, Timestamp};

/// Position after the last session of a page; the next page begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionCursor {
    /// When the last session of the page began.
    pub at: Timestamp,
    pub session: SessionId,
}

impl Session {
    /// The cursor of a page that ends with this session.
    pub const fn cursor(&self) -> SessionCursor {
        SessionCursor { at: self.created_at, session: self.id }
    }

    /// Whether this session comes after `cursor`: newest first, equal times by id.
    pub fn follows(&self, cursor: SessionCursor) -> bool {
        (self.created_at, self.id) < (cursor.at, cursor.session)
    }
}

/// Lists and ends the sessions of an identity, for operators.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait IdentitySessions: Send + Sync {
    /// At most `limit` sessions of an identity after `after`, ended ones included: newest first, equal times
    /// by descending id.
    async fn of_identity(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        after: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError>;

    /// Ends one session of the identity by [`Session::end`]; `false` if the identity has no valid session
    /// with this id. What [`SessionStore::revoke`](crate::SessionStore::revoke) promises holds here too.
    async fn end_one(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Ends every session of the identity by [`Session::end`], each with its event; returns how many ended. A
    /// session that existed when this call began MUST NOT be valid for any request that begins after it
    /// returns, nor may a concurrent refresh keep it alive.
    async fn end_all(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Ends every session of all projects by [`Session::end`], each with its event; returns how many ended.
    /// Used on a database that was restored from a backup, while no service runs: a session that begins
    /// meanwhile may be left.
    async fn end_everywhere(&self, now: Timestamp) -> Result<u64, StoreError>;
}
