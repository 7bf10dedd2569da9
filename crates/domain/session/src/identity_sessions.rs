use crate::Session;
use async_trait::async_trait;
use dwar_kernel::{IdentityId, ProjectMode, SessionId, StoreError, Timestamp};

/// Where a page of sessions ended; the next begins after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionCursor {
    /// When the last session that was given began.
    pub at: Timestamp,
    pub session: SessionId,
}

impl Session {
    /// Where a page that ends with this session ends.
    pub const fn cursor(&self) -> SessionCursor {
        SessionCursor { at: self.created_at, session: self.id }
    }

    /// Whether it comes after `cursor`, newest first, equals by id.
    pub fn follows(&self, cursor: SessionCursor) -> bool {
        (self.created_at, self.id) < (cursor.at, cursor.session)
    }
}

/// Sessions by their identity, for those who look after them.
#[cfg_attr(feature = "mocks", mockall::automock)]
#[async_trait]
pub trait IdentitySessions: Send + Sync {
    /// The sessions of an identity, newest first, equals by id downwards, starting after `after`,
    /// at most `limit`; ended ones, too.
    async fn of_identity(
        &self,
        world: ProjectMode,
        identity: IdentityId,
        after: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError>;

    /// Ends one session of the identity by [`Session::end`]; `false` if it has no valid one with
    /// this id. What [`SessionStore::revoke`](crate::SessionStore::revoke) promises holds here too.
    async fn end_one(
        &self,
        world: ProjectMode,
        identity: IdentityId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<bool, StoreError>;

    /// Ends every session of the identity by [`Session::end`], each with its event; gives how many
    /// ended. A session that existed when this began MUST NOT be valid for any request that begins
    /// after it returns, nor may a concurrent refresh survive it.
    async fn end_all(
        &self,
        world: ProjectMode,
        identity: IdentityId,
        now: Timestamp,
    ) -> Result<u64, StoreError>;

    /// Ends every session of every project by [`Session::end`], each with its event; gives how many
    /// ended. For a database from a backup, beside which no service runs: one that begins meanwhile
    /// may be left.
    async fn end_everywhere(&self, now: Timestamp) -> Result<u64, StoreError>;
}
