use crate::connection::error::Failure;
use crate::connection::look_up_cache::{LookUpCache, OutdatedLookUps};
use crate::connection::pool::{SWEEP, SqliteStore};
use crate::connection::sweep_pace::SweepPace;
use crate::event;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{Digest, IdentityId, ProjectMode, SessionId, StoreError, Timestamp, TokenId};
use dwar_session::{
    KeyAndSession, PresentedRefreshToken, Rotation, RotationPolicy, Session, SessionStore,
    Successor,
};
use dwar_sql::schema::{api_keys, projects, sessions};
use dwar_sql::statement;
use dwar_sql::{At, Id, KeyAndSessionRow, SessionRow, in_mode, read_one};

/// Most ended sessions that are held in memory while they are deleted.
const FOUND_AT_ONCE: i64 = 20 * SWEEP as i64;

#[async_trait]
impl SessionStore for SqliteStore {
    async fn rotate(
        &self,
        seen: Session,
        presented: PresentedRefreshToken,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError> {
        self.change((seen.project_mode, seen.id), move |session| {
            session.rotate(&presented, next, policy, now)
        })
        .await
    }

    async fn find_key_and_session(
        &self,
        key: Digest,
        session: Option<SessionId>,
    ) -> Result<Option<KeyAndSession>, StoreError> {
        let Some((remembered, id)) = self.remembered().zip(session) else {
            return self.look_up(key, session).await;
        };
        let snapshot = match remembered.find(key, id) {
            Ok(caller) => {
                debug_assert!(self.is_true_of(remembered, key, &caller).await?);
                // Yields so that requests which arrived together are answered together. Answering
                // one at a time would wake the reader for each answer, which costs more than the
                // look-up.
                tokio::task::yield_now().await;
                return Ok(Some(caller));
            }
            Err(snapshot) => snapshot,
        };
        let caller = self.look_up(key, session).await?;
        if let Some(caller) = &caller {
            remembered.keep(snapshot, key, caller);
        }
        Ok(caller)
    }

    async fn revoke(
        &self,
        seen: Session,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let revoke = move |session: &mut Session| session.revoke(token, now);
        let wanted = (seen.project_mode, seen.id);
        Ok(self.change(wanted, revoke).await?.unwrap_or_default())
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let before = At::from(before);
        let (mut gone, mut pace) = (0, SweepPace::new());
        loop {
            // An ended session stays ended, so a reader can search for them instead of the writer.
            let ended: Vec<Id> = self
                .scan("session.sweep", move |connection| {
                    let ended = sessions::expires_at.lt(before).or(sessions::revoked_at.lt(before));
                    let found = sessions::table.filter(ended).select(sessions::id);
                    Ok(found.limit(FOUND_AT_ONCE).load(connection)?)
                })
                .await?;
            let mut rest = ended.as_slice();
            while let Some((some, others)) =
                rest.split_at_checked(rest.len().min(pace.rows().into()))
                && !some.is_empty()
            {
                let some = some.to_vec();
                let delete = move |connection: &mut SqliteConnection| {
                    let mut gone = 0;
                    for id in some {
                        gone += diesel::delete(sessions::table.find(id)).execute(connection)?;
                    }
                    Ok(gone)
                };
                let (went, next) = self.turn(pace, OutdatedLookUps::Anything, delete).await?;
                (gone, pace, rest) = (gone + u64::from(went), next, others);
            }
            if i64::try_from(ended.len()).is_ok_and(|found| found < FOUND_AT_ONCE) {
                break;
            }
        }
        Ok(gone)
    }
}

impl SqliteStore {
    /// Tells whether a remembered answer equals that of the database, or the database has changed
    /// meanwhile. Runs in every test of a debug build, because the declared changes of a write may
    /// be wrong.
    async fn is_true_of(
        &self,
        remembered: &LookUpCache,
        key: Digest,
        caller: &KeyAndSession,
    ) -> Result<bool, StoreError> {
        let session = caller.session.as_ref().map(|session| session.id);
        let now = self.look_up(key, session).await?;
        let still = session.is_some_and(|id| remembered.find(key, id).as_ref() == Ok(caller));
        Ok(now.as_ref() == Some(caller) || !still)
    }

    /// Looks up the key with this digest, and the session of this id if the key may see it.
    async fn look_up(
        &self,
        key: Digest,
        session: Option<SessionId>,
    ) -> Result<Option<KeyAndSession>, StoreError> {
        self.read("session.look_up", move |connection| {
            let visible = sessions::id
                .nullable()
                .eq(session.map(Id::from))
                .and(sessions::project_id.eq(api_keys::project_id))
                .and(sessions::mode.eq(api_keys::mode));
            let query = api_keys::table
                .inner_join(projects::table)
                .left_join(sessions::table.on(visible))
                .filter(api_keys::digest.eq(key.0.as_slice()))
                .filter(projects::archived_at.is_null());
            Ok(read_one!(KeyAndSessionRow of query, connection))
        })
        .await
    }

    /// Ends a session of an identity; `false` if the identity has no such active session.
    pub(crate) async fn end_session(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let end = move |session: &mut Session| session.identity == identity && session.end(now);
        Ok(self.change((project_mode, session), end).await?.unwrap_or_default())
    }

    /// Applies a rule to a session, and stores the change with its event.
    async fn change<T: Send + 'static>(
        &self,
        (project_mode, id): (ProjectMode, SessionId),
        rule: impl FnOnce(&mut Session) -> T + Send + 'static,
    ) -> Result<Option<T>, StoreError> {
        self.of(project_mode.project)
            .write_that("session.change", OutdatedLookUps::Session(id), move |connection| {
                let found = by_id(connection, project_mode, id)?;
                let Some(before) = found else { return Ok(None) };
                let mut session = before.clone();
                let answer = rule(&mut session);
                if session != before {
                    keep(connection, &before, &session)?;
                }
                Ok(Some(answer))
            })
            .await
    }
}

/// Stores `session` in place of `before`, with the event of the change.
pub(crate) fn keep(
    connection: &mut SqliteConnection,
    before: &Session,
    session: &Session,
) -> Result<(), Failure> {
    if let Some(event) = session.event(before) {
        event::record(connection, &event)?;
    }
    let row = SessionRow::from(session);
    statement::update(&row, &row).execute(connection)?;
    Ok(())
}

/// Stores a new session; leaves an existing one unchanged.
pub(crate) fn begin(connection: &mut SqliteConnection, session: &Session) -> QueryResult<()> {
    diesel::insert_into(sessions::table)
        .values(SessionRow::from(session))
        .on_conflict_do_nothing()
        .execute(connection)?;
    Ok(())
}

fn by_id(
    connection: &mut SqliteConnection,
    project_mode: ProjectMode,
    session: SessionId,
) -> Result<Option<Session>, Failure> {
    let query = in_mode!(sessions of project_mode, session);
    Ok(read_one!(SessionRow of query, connection))
}
