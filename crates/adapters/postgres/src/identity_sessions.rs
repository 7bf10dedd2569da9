use crate::PostgresStore;
use crate::session::{change, keep};
use async_trait::async_trait;
use diesel::pg::Pg;
use diesel::prelude::*;
use dwar_kernel::{IdentityId, ProjectMode, SessionId, StoreError, Timestamp};
use dwar_session::{IdentitySessions, Session, SessionCursor};
use dwar_sql::schema::{identities, sessions};
use dwar_sql::{At, Id, SessionRow, in_world, live_sessions, read_all, sessions_of};

/// So many sessions end in one transaction.
const TURN: u16 = 100;

#[async_trait]
impl IdentitySessions for PostgresStore {
    async fn of_identity(
        &self,
        world: ProjectMode,
        identity: IdentityId,
        after: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        self.pool
            .of(world.project)
            .run(move |conn| {
                let query = sessions_of!(Pg, world, identity, after, limit);
                Ok(read_all!(SessionRow of query, conn))
            })
            .await
    }

    async fn end_one(
        &self,
        world: ProjectMode,
        identity: IdentityId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut repeated = false;
        let ended = self
            .pool
            .of(world.project)
            .run(move |conn| {
                let again = std::mem::replace(&mut repeated, true);
                change(conn, (world, session), None, |session| {
                    // An end at this instant is this call's own, of which the answer was lost.
                    let own = again && session.revoked_at == Some(now);
                    session.identity == identity && (session.end(now) || own)
                })
            })
            .await?;
        Ok(ended.unwrap_or_default())
    }

    async fn end_all(
        &self,
        world: ProjectMode,
        identity: IdentityId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let mut ended = 0;
        loop {
            let one = self
                .pool
                .of(world.project)
                .transaction(move |conn| {
                    // From here on no session of theirs can start.
                    let known: Option<Id> = in_world!(identities of world, identity)
                        .select(identities::id)
                        .for_update()
                        .get_result(conn)
                        .optional()?;
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
            let turn = move |conn: &mut PgConnection| {
                let query = live_sessions!(now, last).limit(TURN.into()).for_update();
                let alive: Vec<Session> = read_all!(SessionRow of query, conn);
                end(conn, &alive, now)?;
                Ok((alive.len(), alive.last().map(|session| Id::from(session.id))))
            };
            let (some, last) = self.pool.transaction(turn).await?;
            (ended, after) = (ended + u64::try_from(some).unwrap_or(u64::MAX), last);
        }
        Ok(ended)
    }
}

/// Ends some of the sessions that count, locked by id, so that two who do so cannot deadlock.
fn end_some(
    conn: &mut PgConnection,
    identity: IdentityId,
    now: Timestamp,
) -> Result<usize, crate::connection::error::Failure> {
    let query = sessions::table
        .filter(sessions::identity_id.eq(Id::from(identity)))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(At::from(now)))
        .order(sessions::id)
        .limit(TURN.into())
        .for_update();
    let alive: Vec<Session> = read_all!(SessionRow of query, conn);
    end(conn, &alive, now)?;
    Ok(alive.len())
}

/// Ends these, each with its event.
fn end(conn: &mut PgConnection, alive: &[Session], now: Timestamp) -> QueryResult<()> {
    for before in alive {
        let mut session = before.clone();
        session.end(now);
        keep(conn, before, &session)?;
    }
    Ok(())
}
