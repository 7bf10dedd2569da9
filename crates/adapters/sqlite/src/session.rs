use crate::convert::{Row, millis};
use crate::error::Failure;
use crate::event;
use crate::pool::{SWEEP, SqliteStore};
use crate::schema::{identities, sessions};
use crate::statement;
use async_trait::async_trait;
use diesel::prelude::*;
use dwar_kernel::{KeyMode, ProjectId, Sealed, SessionId, StoreError, Timestamp, TokenId};
use dwar_session::{
    CurrentAccess, Presented, Replay, Rotation, RotationPolicy, Rotations, Session, SessionStore,
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
    generation: i64,
    rotations: Vec<u8>,
    refresh_expires_at: i64,
    access_token_id: String,
    access_issued_at: i64,
    access_expires_at: i64,
    replay_key: Option<Vec<u8>>,
    replay_answer: Option<Vec<u8>>,
    revoked_at: Option<i64>,
}

impl From<Session> for SessionRow {
    fn from(session: Session) -> Self {
        let (replay_key, replay_answer) =
            session.replay.map(|replay| (replay.key.0.to_vec(), replay.answer.0)).unzip();
        Self {
            id: session.id.to_string(),
            project_id: session.project.to_string(),
            mode: session.mode.to_string(),
            identity_id: session.identity.to_string(),
            created_at: session.created_at.timestamp_millis(),
            expires_at: session.expires_at.timestamp_millis(),
            refresh_digest: session.refresh.0.to_vec(),
            generation: session.generation.into(),
            rotations: session.rotations.to_bytes(),
            refresh_expires_at: session.refresh_expires_at.timestamp_millis(),
            access_token_id: session.access.token.to_string(),
            access_issued_at: session.access.issued_at.timestamp_millis(),
            access_expires_at: session.access.expires_at.timestamp_millis(),
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
        let generation = row.known("generation", stored.generation.try_into().ok())?;
        let rotations = Rotations::from_bytes(&stored.rotations, generation);
        Ok(Self {
            id: row.parse("id", &stored.id)?,
            project: row.parse("project_id", &stored.project_id)?,
            mode: row.parse("mode", &stored.mode)?,
            identity: row.parse("identity_id", &stored.identity_id)?,
            created_at: row.instant("created_at", stored.created_at)?,
            expires_at: row.instant("expires_at", stored.expires_at)?,
            refresh: row.digest("refresh_digest", &stored.refresh_digest)?,
            generation,
            rotations: row.known("rotations", rotations)?,
            refresh_expires_at: row.instant("refresh_expires_at", stored.refresh_expires_at)?,
            access: CurrentAccess {
                token: row.parse("access_token_id", &stored.access_token_id)?,
                issued_at: row.instant("access_issued_at", stored.access_issued_at)?,
                expires_at: row.instant("access_expires_at", stored.access_expires_at)?,
            },
            replay: match (&stored.replay_key, stored.replay_answer) {
                (None, None) => None,
                (key, answer) => Some(Replay {
                    key: row.digest("replay_key", key.as_deref().unwrap_or_default())?,
                    answer: Sealed(row.known("replay_answer", answer)?),
                }),
            },
            revoked_at: row.maybe_instant("revoked_at", stored.revoked_at)?,
        })
    }
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
            diesel::insert_into(sessions::table)
                .values(SessionRow::from(session))
                .on_conflict_do_nothing()
                .execute(connection)?;
            Ok(Started::Started)
        })
        .await
    }

    async fn rotate(
        &self,
        seen: Session,
        presented: Presented,
        next: Successor,
        policy: RotationPolicy,
        now: Timestamp,
    ) -> Result<Option<Rotation>, StoreError> {
        self.change((seen.project, seen.mode, seen.id), move |session| {
            session.rotate(&presented, next, policy, now)
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
        let revoke = move |session: &mut Session| session.revoke(token, now);
        Ok(self.change((project, mode, session), revoke).await?.unwrap_or_default())
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
                let mut gone = 0;
                for id in turn {
                    gone += diesel::delete(sessions::table.find(id)).execute(connection)?;
                }
                Ok(gone)
            };
            gone += self.write(delete).await?;
        }
        Ok(u64::try_from(gone).unwrap_or(u64::MAX))
    }
}

impl SqliteStore {
    /// Applies a rule to a session, and keeps what it changed with the event that it was.
    async fn change<T: Send + 'static>(
        &self,
        (project, mode, id): (ProjectId, KeyMode, SessionId),
        rule: impl FnOnce(&mut Session) -> T + Send + 'static,
    ) -> Result<Option<T>, StoreError> {
        self.write(move |connection| {
            let found = by_id(connection, project, mode, id)?;
            let Some(before) = found else { return Ok(None) };
            let mut session = before.clone();
            let answer = rule(&mut session);
            if session != before {
                if let Some(event) = session.event(&before) {
                    event::record(connection, &event)?;
                }
                let row = SessionRow::from(session);
                statement::update(&row, &row).execute(connection)?;
            }
            Ok(Some(answer))
        })
        .await
    }
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
        .get_result(connection)
        .optional()?;
    Ok(row.map(Session::try_from).transpose()?)
}
