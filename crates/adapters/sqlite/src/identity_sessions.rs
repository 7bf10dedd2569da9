use crate::connection::error::Failure;
use crate::connection::pool::{SWEEP, SqliteStore};
use crate::event;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sqlite::Sqlite;
use dwar_kernel::{IdentityId, ProjectMode, SessionId, StoreError, Timestamp};
use dwar_session::{IdentitySessions, Session, SessionCursor};
use dwar_sql::schema::sessions;
use dwar_sql::statement;
use dwar_sql::{At, Id, SessionRow, live_sessions, read_all, sessions_of};

#[async_trait]
impl IdentitySessions for SqliteStore {
    async fn of_identity(
        &self,
        world: ProjectMode,
        identity: IdentityId,
        after: Option<SessionCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        self.of(world.project)
            .scan(move |connection| {
                let query = sessions_of!(Sqlite, world, identity, after, limit);
                Ok(read_all!(SessionRow of query, connection))
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
        let end = move |session: &mut Session| session.identity == identity && session.end(now);
        Ok(self.change((world, session), end).await?.unwrap_or_default())
    }

    async fn end_all(
        &self,
        world: ProjectMode,
        identity: IdentityId,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let turn = move |connection: &mut SqliteConnection| {
            let query = sessions_of!(Sqlite, world, identity, None::<SessionCursor>, SWEEP)
                .filter(sessions::revoked_at.is_null())
                .filter(sessions::expires_at.gt(At::from(now)));
            let alive: Vec<Session> = read_all!(SessionRow of query, connection);
            end(connection, &alive, now)?;
            Ok(alive.len())
        };
        let mut ended = 0;
        loop {
            // In turns, so that other writes get theirs in between.
            let one = self.of(world.project).write(turn).await?;
            ended += u64::try_from(one).unwrap_or(u64::MAX);
            if one < usize::from(SWEEP) {
                return Ok(ended);
            }
        }
    }

    async fn end_everywhere(&self, now: Timestamp) -> Result<u64, StoreError> {
        let (mut ended, mut after) = (0, Some(Id::first_at(Timestamp::UNIX_EPOCH)));
        while let Some(last) = after {
            let turn = move |connection: &mut SqliteConnection| {
                let query = live_sessions!(now, last).limit(SWEEP.into());
                let alive: Vec<Session> = read_all!(SessionRow of query, connection);
                end(connection, &alive, now)?;
                Ok((alive.len(), alive.last().map(|session| Id::from(session.id))))
            };
            let (some, last) = self.write(turn).await?;
            (ended, after) = (ended + u64::try_from(some).unwrap_or(u64::MAX), last);
        }
        Ok(ended)
    }
}

/// Ends these, each with its event.
fn end(
    connection: &mut SqliteConnection,
    alive: &[Session],
    now: Timestamp,
) -> Result<(), Failure> {
    for before in alive {
        let mut session = before.clone();
        session.end(now);
        if let Some(event) = session.event(before) {
            event::record(connection, &event)?;
        }
        let row = SessionRow::from(&session);
        statement::update(&row, &row).execute(connection)?;
    }
    Ok(())
}
