use crate::PostgresStore;
use crate::convert::Row;
use crate::error::Failure;
use crate::event;
use crate::schema::{identities, refresh_tokens, sessions};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{
    Digest, IdentityId, KeyMode, ProjectId, Sealed, SessionId, StoreError, Timestamp, TokenId,
};
use dwar_session::{
    CurrentAccess, Predecessor, Presented, Replay, Rotation, RotationPolicy, Session, SessionStore,
    Started, Successor,
};
use uuid::Uuid;

#[derive(Queryable, Selectable, Insertable, AsChangeset)]
#[diesel(table_name = sessions, treat_none_as_null = true)]
struct SessionRow {
    id: Uuid,
    project_id: Uuid,
    mode: String,
    identity_id: Uuid,
    created_at: Timestamp,
    expires_at: Timestamp,
    refresh_digest: Vec<u8>,
    refresh_expires_at: Timestamp,
    access_token_id: Uuid,
    access_issued_at: Timestamp,
    access_expires_at: Timestamp,
    predecessor_digest: Option<Vec<u8>>,
    rotated_at: Option<Timestamp>,
    replay_key: Option<Vec<u8>>,
    replay_answer: Option<Vec<u8>>,
    revoked_at: Option<Timestamp>,
}

impl From<&Session> for SessionRow {
    fn from(session: &Session) -> Self {
        let predecessor = session.predecessor.as_ref();
        let replay = predecessor.and_then(|last| last.replay.as_ref());
        Self {
            id: session.id.uuid(),
            project_id: session.project.uuid(),
            mode: session.mode.as_str().to_owned(),
            identity_id: session.identity.uuid(),
            created_at: session.created_at,
            expires_at: session.expires_at,
            refresh_digest: session.refresh.0.to_vec(),
            refresh_expires_at: session.refresh_expires_at,
            access_token_id: session.access.token.uuid(),
            access_issued_at: session.access.issued_at,
            access_expires_at: session.access.expires_at,
            predecessor_digest: predecessor.map(|last| last.refresh.0.to_vec()),
            rotated_at: predecessor.map(|last| last.rotated_at),
            replay_key: replay.map(|replay| replay.key.0.to_vec()),
            replay_answer: replay.map(|replay| replay.answer.0.clone()),
            revoked_at: session.revoked_at,
        }
    }
}

impl TryFrom<SessionRow> for Session {
    type Error = StoreError;

    fn try_from(row: SessionRow) -> Result<Self, StoreError> {
        let read = Row::new("sessions", row.id);
        let replay = match row.replay_key {
            Some(key) => Some(Replay {
                key: read.digest("replay_key", key)?,
                answer: Sealed(read.known("replay_answer", row.replay_answer)?),
            }),
            None => None,
        };
        let predecessor = match row.predecessor_digest {
            Some(digest) => Some(Predecessor {
                refresh: read.digest("predecessor_digest", digest)?,
                rotated_at: read.known("rotated_at", row.rotated_at)?,
                replay,
            }),
            None => None,
        };
        Ok(Self {
            id: row.id.into(),
            project: row.project_id.into(),
            mode: read.parse("mode", &row.mode)?,
            identity: row.identity_id.into(),
            created_at: row.created_at,
            expires_at: row.expires_at,
            refresh: read.digest("refresh_digest", row.refresh_digest)?,
            refresh_expires_at: row.refresh_expires_at,
            access: CurrentAccess {
                token: row.access_token_id.into(),
                issued_at: row.access_issued_at,
                expires_at: row.access_expires_at,
            },
            predecessor,
            revoked_at: row.revoked_at,
        })
    }
}

/// Locks every session of an identity; in order, so that two who do so cannot deadlock.
pub(crate) fn lock_all(
    conn: &mut PgConnection,
    identity: IdentityId,
) -> Result<Vec<Session>, Failure> {
    let rows: Vec<SessionRow> = sessions::table
        .filter(sessions::identity_id.eq(identity.uuid()))
        .order(sessions::id)
        .select(SessionRow::as_select())
        .for_update()
        .load(conn)?;
    Ok(rows.into_iter().map(Session::try_from).collect::<Result<_, _>>()?)
}

fn save(conn: &mut PgConnection, session: &Session) -> QueryResult<usize> {
    diesel::update(sessions::table.find(session.id.uuid()))
        .set(SessionRow::from(session))
        .execute(conn)
}

/// Files a refresh token under its session, so that it is recognised for ever after.
fn remember(conn: &mut PgConnection, session: &Session) -> QueryResult<usize> {
    diesel::insert_into(refresh_tokens::table)
        .values((
            refresh_tokens::digest.eq(session.refresh.0.as_slice()),
            refresh_tokens::session_id.eq(session.id.uuid()),
        ))
        .execute(conn)
}

fn revoked(session: &Session, at: Timestamp) -> Event {
    Event {
        project: session.project,
        mode: session.mode,
        kind: EventKind::SessionRevoked,
        subject: Subject::Session { session: session.id, identity: session.identity },
        at,
    }
}

#[async_trait]
impl SessionStore for PostgresStore {
    async fn start(&self, session: Session) -> Result<Started, StoreError> {
        self.pool
            .transaction(move |conn| {
                // Holds a deletion back until the session is there to go with it.
                let identity: Option<Uuid> = identities::table
                    .find(session.identity.uuid())
                    .filter(identities::project_id.eq(session.project.uuid()))
                    .filter(identities::mode.eq(session.mode.as_str()))
                    .select(identities::id)
                    .for_key_share()
                    .first(conn)
                    .optional()?;
                if identity.is_none() {
                    return Ok(Started::IdentityGone);
                }
                diesel::insert_into(sessions::table)
                    .values(SessionRow::from(&session))
                    .execute(conn)?;
                remember(conn, &session)?;
                Ok(Started::Started)
            })
            .await
    }

    async fn find_by_refresh(
        &self,
        project: ProjectId,
        mode: KeyMode,
        refresh: Digest,
    ) -> Result<Option<Session>, StoreError> {
        self.pool
            .run(move |conn| {
                let row: Option<SessionRow> = sessions::table
                    .filter(sessions::id.eq_any(holder(&refresh)))
                    .filter(sessions::project_id.eq(project.uuid()))
                    .filter(sessions::mode.eq(mode.as_str()))
                    .select(SessionRow::as_select())
                    .first(conn)
                    .optional()?;
                Ok(row.map(Session::try_from).transpose()?)
            })
            .await
    }

    async fn rotate(
        &self,
        project: ProjectId,
        mode: KeyMode,
        presented: Presented,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError> {
        self.pool
            .transaction(move |conn| {
                let row: Option<SessionRow> = sessions::table
                    .filter(sessions::id.eq_any(holder(&presented.refresh)))
                    .filter(sessions::project_id.eq(project.uuid()))
                    .filter(sessions::mode.eq(mode.as_str()))
                    .select(SessionRow::as_select())
                    .for_update()
                    .first(conn)
                    .optional()?;
                let Some(row) = row else { return Ok(None) };
                let mut session = Session::try_from(row)?;
                let rotation = session.rotate(&presented, next.clone(), policy, now);
                match rotation {
                    Rotation::Rotated => {
                        save(conn, &session)?;
                        remember(conn, &session)?;
                    }
                    Rotation::Reused => {
                        save(conn, &session)?;
                        event::record(conn, &revoked(&session, now))?;
                    }
                    Rotation::Replayed(_) | Rotation::Refused => {}
                }
                Ok(Some(rotation))
            })
            .await
    }

    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        session: SessionId,
    ) -> Result<Option<Session>, StoreError> {
        self.pool
            .run(move |conn| {
                let row: Option<SessionRow> = sessions::table
                    .find(session.uuid())
                    .filter(sessions::project_id.eq(project.uuid()))
                    .filter(sessions::mode.eq(mode.as_str()))
                    .select(SessionRow::as_select())
                    .first(conn)
                    .optional()?;
                Ok(row.map(Session::try_from).transpose()?)
            })
            .await
    }

    async fn revoke(
        &self,
        project: ProjectId,
        mode: KeyMode,
        session: SessionId,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.pool
            .transaction(move |conn| {
                let row: Option<SessionRow> = sessions::table
                    .find(session.uuid())
                    .filter(sessions::project_id.eq(project.uuid()))
                    .filter(sessions::mode.eq(mode.as_str()))
                    .select(SessionRow::as_select())
                    .for_update()
                    .first(conn)
                    .optional()?;
                let Some(row) = row else { return Ok(false) };
                let mut session = Session::try_from(row)?;
                if !session.honours(token, now) {
                    return Ok(false);
                }
                session.revoked_at = Some(now);
                save(conn, &session)?;
                event::record(conn, &revoked(&session, now))?;
                Ok(true)
            })
            .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        self.sweep_in_batches(move |conn| {
            let ended = diesel::alias!(sessions as ended);
            let expired = ended.field(sessions::expires_at).lt(before);
            let revoked = ended.field(sessions::revoked_at).lt(before);
            let ended = ended
                .filter(expired.or(revoked))
                .select(ended.field(sessions::id))
                .limit(crate::SWEEP_BATCH)
                .for_update()
                .skip_locked();
            diesel::delete(sessions::table.filter(sessions::id.eq_any(ended))).execute(conn)
        })
        .await
    }
}

/// The session in whose line this refresh token is or was.
#[diesel::dsl::auto_type(no_type_alias)]
fn holder(refresh: &Digest) -> _ {
    let digest: &[u8] = refresh.0.as_slice();
    refresh_tokens::table
        .filter(refresh_tokens::digest.eq(digest))
        .select(refresh_tokens::session_id)
}
