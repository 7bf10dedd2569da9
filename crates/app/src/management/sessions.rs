use crate::{AdminError, Audit, Change, Toolbox};
use dwar_kernel::{IdentityId, KeyMode, ProjectId, SessionId, StoreError};
use dwar_operator::{Action, By, Facts};
use dwar_session::{IdentitySessions, Session, SessionCursor};
use std::sync::Arc;

/// Shows the sessions of an identity to an operator, and ends them.
pub struct ManageSessions {
    pub tools: Toolbox,
    pub sessions: Arc<dyn IdentitySessions>,
    pub audit: Audit,
}

impl ManageSessions {
    /// The sessions of an identity, newest first, from after `after` on, at most `limit`: those that
    /// ended too, as long as they are on record.
    pub async fn list(
        &self,
        (project, mode): (ProjectId, KeyMode),
        identity: IdentityId,
        after: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        self.sessions.of_identity(project, mode, identity, after, limit).await
    }

    /// Ends one session; `false` if the identity has none of this id that counts.
    ///
    /// Neither of its tokens works for any request that begins after this returns.
    pub async fn end_one(
        &self,
        by: &By,
        (project, mode): (ProjectId, KeyMode),
        identity: IdentityId,
        session: SessionId,
    ) -> Result<bool, AdminError> {
        let facts = Facts::new().word("mode", mode).word("session", session);
        self.record(by, project, identity, facts).await?;
        let now = self.tools.now();
        Ok(self.sessions.end_one(project, mode, identity, session, now).await?)
    }

    /// Ends every session of an identity, as [`ManageSessions::end_one`] does; gives how many ended.
    pub async fn end_all(
        &self,
        by: &By,
        (project, mode): (ProjectId, KeyMode),
        identity: IdentityId,
    ) -> Result<u64, AdminError> {
        let facts = Facts::new().word("mode", mode).word("session", "all");
        self.record(by, project, identity, facts).await?;
        Ok(self.sessions.end_all(project, mode, identity, self.tools.now()).await?)
    }

    async fn record(
        &self,
        by: &By,
        project: ProjectId,
        identity: IdentityId,
        ended: Facts,
    ) -> Result<(), AdminError> {
        let change = Change::new(Action::SessionsEnded, identity).within(project);
        self.audit.record(by, change.before(ended)).await
    }
}
