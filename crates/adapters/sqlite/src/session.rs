use crate::convert::{Row, millis};
use crate::error::Failure;
use crate::event;
use crate::pool::{SWEEP, SqliteStore};
use crate::schema::{identities, refresh_tokens, sessions};
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_event::{Event, EventKind, Subject};
use dwar_kernel::{Digest, KeyMode, ProjectId, Sealed, SessionId, StoreError, Timestamp, TokenId};
use dwar_session::{
    CurrentAccess, Predecessor, Presented, Replay, Rotation, RotationPolicy, Session, SessionStore,
    Started, Successor,
};

#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = sessions, treat_none_as_null = true)]
pub(crate) struct SessionRow {
    id: String,
    project_id: String,
    mode: String,
    identity_id: String,
    created_at: i64,
    expires_at: i64,
    refresh_digest: Vec<u8>,
    refresh_expires_at: i64,
    access_token_id: String,
    access_issued_at: i64,
    access_expires_at: i64,
    predecessor_digest: Option<Vec<u8>>,
    rotated_at: Option<i64>,
    replay_key: Option<Vec<u8>>,
    replay_answer: Option<Vec<u8>>,
    revoked_at: Option<i64>,
}

impl From<Session> for SessionRow {
    fn from(session: Session) -> Self {
        let (last, rotated_at, replay) = match session.predecessor {
            Some(last) => (Some(last.refresh.0.to_vec()), Some(last.rotated_at), last.replay),
            None => (None, None, None),
        };
        let (replay_key, replay_answer) =
            replay.map(|replay| (replay.key.0.to_vec(), replay.answer.0)).unzip();
        Self {
            id: session.id.to_string(),
            project_id: session.project.to_string(),
            mode: session.mode.to_string(),
            identity_id: session.identity.to_string(),
            created_at: session.created_at.timestamp_millis(),
            expires_at: session.expires_at.timestamp_millis(),
            refresh_digest: session.refresh.0.to_vec(),
            refresh_expires_at: session.refresh_expires_at.timestamp_millis(),
            access_token_id: session.access.token.to_string(),
            access_issued_at: session.access.issued_at.timestamp_millis(),
            access_expires_at: session.access.expires_at.timestamp_millis(),
            predecessor_digest: last,
            rotated_at: millis(rotated_at),
            replay_key,
            replay_answer,
            revoked_at: millis(session.revoked_at),
        }
    }
}

impl TryFrom<SessionRow> for Session {
    type Error = StoreError;

    fn try_from(stored: SessionRow) -> Result<Self, StoreError> {
        let row = Row::new("sessions", &stored.id);
        Ok(Self {
            id: row.parse("id", &stored.id)?,
            project: row.parse("project_id", &stored.project_id)?,
            mode: row.parse("mode", &stored.mode)?,
            identity: row.parse("identity_id", &stored.identity_id)?,
            created_at: row.instant("created_at", stored.created_at)?,
            expires_at: row.instant("expires_at", stored.expires_at)?,
            refresh: row.digest("refresh_digest", &stored.refresh_digest)?,
            refresh_expires_at: row.instant("refresh_expires_at", stored.refresh_expires_at)?,
            access: CurrentAccess {
                token: row.parse("access_token_id", &stored.access_token_id)?,
                issued_at: row.instant("access_issued_at", stored.access_issued_at)?,
                expires_at: row.instant("access_expires_at", stored.access_expires_at)?,
            },
            revoked_at: row.maybe_instant("revoked_at", stored.revoked_at)?,
            predecessor: predecessor(&stored, &row)?,
        })
    }
}

fn predecessor(stored: &SessionRow, row: &Row<'_>) -> Result<Option<Predecessor>, StoreError> {
    let Some(digest) = &stored.predecessor_digest else { return Ok(None) };
    let rotated_at = row.maybe_instant("rotated_at", stored.rotated_at)?;
    let replay = match (&stored.replay_key, &stored.replay_answer) {
        (Some(key), Some(answer)) => {
            Some(Replay { key: row.digest("replay_key", key)?, answer: Sealed(answer.clone()) })
        }
        _ => None,
    };
    Ok(Some(Predecessor {
        refresh: row.digest("predecessor_digest", digest)?,
        rotated_at: row.known("rotated_at", rotated_at)?,
        replay,
    }))
}

#[async_trait]
impl SessionStore for SqliteStore {
    async fn start(&self, session: Session) -> Result<Started, StoreError> {
        self.write(move |connection| {
            let identity = identities::table
                .filter(identities::id.eq(session.identity.to_string()))
                .filter(identities::project_id.eq(session.project.to_string()))
                .filter(identities::mode.eq(session.mode.as_str()));
            if identity.count().get_result::<i64>(connection)? == 0 {
                return Ok(Started::IdentityGone);
            }
            let (id, refresh) = (session.id, session.refresh);
            let row = SessionRow::from(session);
            diesel::insert_into(sessions::table).values(row).execute(connection)?;
            remember(connection, id, refresh)?;
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
        self.read(move |connection| in_line(connection, project, mode, refresh)).await
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
        self.write(move |connection| {
            let found = in_line(connection, project, mode, presented.refresh)?;
            let Some(mut session) = found else { return Ok(None) };
            let rotation = session.rotate(&presented, next, policy, now);
            match rotation {
                Rotation::Rotated => {
                    remember(connection, session.id, session.refresh)?;
                    save(connection, session)?;
                }
                Rotation::Reused => {
                    event::record(connection, &revocation(&session, now))?;
                    save(connection, session)?;
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
        self.read(move |connection| by_id(connection, project, mode, session)).await
    }

    async fn revoke(
        &self,
        project: ProjectId,
        mode: KeyMode,
        session: SessionId,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        self.write(move |connection| {
            let found = by_id(connection, project, mode, session)?;
            let Some(mut session) = found.filter(|session| session.honours(token, now)) else {
                return Ok(false);
            };
            session.revoked_at = Some(now);
            event::record(connection, &revocation(&session, now))?;
            save(connection, session)?;
            Ok(true)
        })
        .await
    }

    async fn sweep(&self, before: Timestamp) -> Result<u64, StoreError> {
        let before = before.timestamp_millis();
        // An ended session stays ended, so the search for them need not keep the writer busy.
        let ended: Vec<String> = self
            .scan(move |connection| {
                let ended = sessions::expires_at.lt(before).or(sessions::revoked_at.lt(before));
                let found = sessions::table.filter(ended);
                Ok(found.select(sessions::id).load(connection)?)
            })
            .await?;
        let mut gone = 0;
        for turn in ended.chunks(SWEEP.into()) {
            let turn = turn.to_vec();
            let delete = move |connection: &mut SqliteConnection| {
                let ended = sessions::table.filter(sessions::id.eq_any(turn));
                Ok(diesel::delete(ended).execute(connection)?)
            };
            gone += self.write(delete).await?;
        }
        Ok(u64::try_from(gone).unwrap_or(u64::MAX))
    }
}

/// Puts a refresh token into the line of a session.
fn remember(
    connection: &mut SqliteConnection,
    session: SessionId,
    refresh: Digest,
) -> QueryResult<()> {
    let token = (
        refresh_tokens::digest.eq(refresh.0.as_slice()),
        refresh_tokens::session_id.eq(session.to_string()),
    );
    diesel::insert_into(refresh_tokens::table).values(token).execute(connection).map(|_| ())
}

fn revocation(session: &Session, at: Timestamp) -> Event {
    Event {
        project: session.project,
        mode: session.mode,
        kind: EventKind::SessionRevoked,
        subject: Subject::Session { session: session.id, identity: session.identity },
        at,
    }
}

fn save(connection: &mut SqliteConnection, session: Session) -> QueryResult<()> {
    let row = SessionRow::from(session);
    diesel::update(&row).set(&row).execute(connection).map(|_| ())
}

fn in_line(
    connection: &mut SqliteConnection,
    project: ProjectId,
    mode: KeyMode,
    refresh: Digest,
) -> Result<Option<Session>, Failure> {
    let row = refresh_tokens::table
        .inner_join(sessions::table)
        .filter(refresh_tokens::digest.eq(refresh.0.as_slice()))
        .filter(sessions::project_id.eq(project.to_string()))
        .filter(sessions::mode.eq(mode.as_str()))
        .select(SessionRow::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(Session::try_from).transpose()?)
}

fn by_id(
    connection: &mut SqliteConnection,
    project: ProjectId,
    mode: KeyMode,
    session: SessionId,
) -> Result<Option<Session>, Failure> {
    let row = sessions::table
        .filter(sessions::id.eq(session.to_string()))
        .filter(sessions::project_id.eq(project.to_string()))
        .filter(sessions::mode.eq(mode.as_str()))
        .select(SessionRow::as_select())
        .first(connection)
        .optional()?;
    Ok(row.map(Session::try_from).transpose()?)
}
