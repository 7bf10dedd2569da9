use crate::PostgresStore;
use crate::caller::KeyAndSessionLookUp;
use crate::connection::error::{Failure, unavailable};
use crate::connection::statement::Statement;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Binary, Text};
use dwar_kernel::{Digest, IdentityId, ProjectMode, SessionId, StoreError, Timestamp, TokenId};
use dwar_session::{
    KeyAndSession, PresentedRefreshToken, Rotation, RotationPolicy, Session, SessionStore,
    Successor,
};
use dwar_sql::schema::sessions;
use dwar_sql::{At, Id, SessionRow, in_mode, read_one};

/// Replaces the token pair of a session that has not changed since it was read.
const EXCHANGE: &str = " UPDATE sessions s SET refresh_digest = g.refresh_digest, \
     generation = g.generation, rotations = g.rotations, \
     refresh_expires_at = g.refresh_expires_at, access_token_id = g.access_token_id, \
     access_issued_at = g.access_issued_at, access_expires_at = g.access_expires_at, \
     replay_key = g.replay_key, replay_answer = g.replay_answer \
     FROM given g WHERE s.id = g.id AND s.project_id = g.project_id AND s.mode = g.mode \
     AND s.refresh_digest = g.seen AND s.revoked_at IS NULL";

/// Ends a session that has not changed since it was read, and records the event.
const END: &str = ", ended AS ( \
         UPDATE sessions s SET revoked_at = g.at FROM given g \
         WHERE s.id = g.session AND s.project_id = g.project AND s.mode = g.mode \
         AND s.refresh_digest = g.seen AND s.revoked_at IS NULL \
         RETURNING s.id, s.identity_id \
     ) SELECT record_event(event => g.event, project => g.project, event_mode => g.mode, \
         event_kind => g.kind, moment => g.at, subject => ended.id, related => ended.identity_id) \
     FROM ended, given g";

/// Most reads of a session that others keep changing, before the step takes a lock.
const TRIES: usize = 5;

/// Applies a rule to a session, first to the state that was read before, and stores the change.
///
/// Takes no lock in between: the write is guarded. If the session has changed, the rule is applied
/// to the changed session.
fn change<T>(
    conn: &mut PgConnection,
    (project_mode, id): (ProjectMode, SessionId),
    mut seen: Option<Session>,
    mut rule: impl FnMut(&mut Session) -> T,
) -> Result<Option<T>, Failure> {
    for _ in 0..TRIES {
        let before = match seen.take() {
            Some(seen) => seen,
            None => match by_id(conn, project_mode, id)? {
                Some(known) => known,
                None => return Ok(None),
            },
        };
        let mut session = before.clone();
        let answer = rule(&mut session);
        if session == before || keep(conn, &before, &session)? {
            return Ok(Some(answer));
        }
    }
    Err(unavailable("a session changes too often").into())
}

/// Stores `session` if the record still equals `before`. Each exchange has a digest of its own, and
/// an end is permanent.
pub(crate) fn keep(
    conn: &mut PgConnection,
    before: &Session,
    session: &Session,
) -> QueryResult<bool> {
    let row = SessionRow::from(session);
    let kept = match session.event(before) {
        None => {
            let statement =
                Statement::new(EXCHANGE).given::<Binary, _>("seen", before.refresh.0.as_slice());
            given!(
                statement, sessions of row,
                id project_id mode refresh_digest generation rotations refresh_expires_at
                access_token_id access_issued_at access_expires_at replay_key replay_answer
            )
            .execute(conn)?
        }
        Some(event) => Statement::new(END)
            .given::<Id, _>("session", row.id)
            .given::<Id, _>("project", row.project_id)
            .given::<Text, _>("mode", row.mode)
            .given::<Binary, _>("seen", before.refresh.0.as_slice())
            .given::<Text, _>("event", event.id())
            .given::<Text, _>("kind", event.kind.as_str())
            .given::<At, _>("at", At::from(event.at))
            .execute(conn)?,
    };
    Ok(kept == 1)
}

fn by_id(
    conn: &mut PgConnection,
    project_mode: ProjectMode,
    session: SessionId,
) -> Result<Option<Session>, Failure> {
    let query = in_mode!(sessions of project_mode, session);
    Ok(read_one!(SessionRow of query, conn))
}

#[async_trait]
impl SessionStore for PostgresStore {
    async fn rotate(
        &self,
        seen: Session,
        presented: PresentedRefreshToken,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError> {
        // On a repetition after a lost answer, the rule recognises its own exchange by its
        // successor.
        self.of(seen.project_mode.project)
            .write_one("session.rotate", move |conn| {
                let key = (seen.project_mode, seen.id);
                change(conn, key, Some(seen.clone()), |session| {
                    session.rotate(&presented, next.clone(), policy, now)
                })
            })
            .await
    }

    async fn find_key_and_session(
        &self,
        key: Digest,
        session: Option<SessionId>,
    ) -> Result<Option<KeyAndSession>, StoreError> {
        self.shared.seekers.ask(KeyAndSessionLookUp { key, session }).await
    }

    async fn revoke(
        &self,
        seen: Session,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut repeated = false;
        let revoked = self
            .of(seen.project_mode.project)
            .write_one("session.revoke", move |conn| {
                let again = std::mem::replace(&mut repeated, true);
                let key = (seen.project_mode, seen.id);
                change(conn, key, Some(seen.clone()), |session| {
                    // A session that ended at this instant was ended by this call, whose answer was
                    // lost.
                    let own = session.access.token == token && session.revoked_at == Some(now);
                    session.revoke(token, now) || again && own
                })
            })
            .await?;
        Ok(revoked.unwrap_or_default())
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let expired = self.drop_before("sessions", "expires_at", before).await?;
        Ok(expired + self.drop_before("sessions", "revoked_at", before).await?)
    }
}

impl PostgresStore {
    /// Ends a session of an identity; `false` if the identity has no such active session.
    pub(crate) async fn end_session(
        &self,
        project_mode: ProjectMode,
        identity: IdentityId,
        session: SessionId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut repeated = false;
        let ended = self
            .of(project_mode.project)
            .write_one("session.end_one", move |conn| {
                let again = std::mem::replace(&mut repeated, true);
                change(conn, (project_mode, session), None, |session| {
                    // A session that ended at this instant was ended by this call, whose answer was
                    // lost.
                    let own = again && session.revoked_at == Some(now);
                    session.identity == identity && (session.end(now) || own)
                })
            })
            .await?;
        Ok(ended.unwrap_or_default())
    }
}
