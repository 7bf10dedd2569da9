use crate::dialect::{Backend, Conn, Failure, Store};
use crate::session::keep;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{IdentityId, ProjectMode, SessionId, StoreError, Timestamp};
use dwar_session::{IdentitySessions, Session, SessionCursor};
use dwar_sql::schema::{identities, sessions};
use dwar_sql::{At, Id, SessionRow, in_mode, live_sessions, read_all, sessions_of};

/// Sessions that one step ends, so that other work can run in between.
const TURN: u16 = 100;

#[async_trait]
impl IdentitySessions for Store {
    async fn of_identity(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        after: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        self.of(project_mode.project)
            .scan("session.of_identity", move |conn| {
                let query = sessions_of!(Backend, project_mode, identity, after, limit);
                Ok(read_all!(SessionRow of query, conn))
            })
            .await
    }

    async fn end_one(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.end_session(project_mode, identity, session, now).await
    }

    async fn end_all(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut ended = 0;
        loop {
            let one = self
                .of(project_mode.project)
                .write("session.end_all", move |conn| {
                    // From here on no session of the identity can start.
                    let known =
                        in_mode!(identities of project_mode, identity).select(identities::id);
                    let known: Option<Id> = for_update!(known).get_result(conn).optional()?;
                    if known.is_none() {
                        return Ok(0);
                    }
                    end_some(conn, identity, now)
                })
                .await?;
            ended += u64::try_from(one).unwrap_or(u64::MAX);
            if one < usize::from(TURN) {
                return Ok(ended);
            }
        }
    }

    async fn end_everywhere(&self, now: Timestamp) -> Result<u64, StoreError> {
        let (mut ended, mut after) = (0, Some(Id::first_at(Timestamp::UNIX_EPOCH)));
        while let Some(last) = after {
            let turn = move |conn: &mut Conn| {
                let query = for_update!(live_sessions!(now, last).limit(TURN.into()));
                let alive: Vec<Session> = read_all!(SessionRow of query, conn);
                end(conn, &alive, now)?;
                Ok((alive.len(), alive.last().map(|session| Id::from(session.id))))
            };
            let (some, last) = self.write("session.end_everywhere", turn).await?;
            (ended, after) = (ended + u64::try_from(some).unwrap_or(u64::MAX), last);
        }
        Ok(ended)
    }
}

/// Ends some active sessions. Locks them by id, so that two calls cannot deadlock.
fn end_some(conn: &mut Conn, identity: IdentityId, now: Timestamp) -> Result<usize, Failure> {
    let query = sessions::table
        .filter(sessions::identity_id.eq(Id::from(identity)))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(At::from(now)))
        .order(sessions::id)
        .limit(TURN.into());
    let alive: Vec<Session> = read_all!(SessionRow of for_update!(query), conn);
    end(conn, &alive, now)?;
    Ok(alive.len())
}

fn end(conn: &mut Conn, alive: &[Session], now: Timestamp) -> Result<(), Failure> {
    for before in alive {
        let mut session = before.clone();
        session.end(now);
        keep(conn, before, &session)?;
    }
    Ok(())
}
