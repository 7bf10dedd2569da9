use crate::PostgresStore;
use crate::convert::Row;
use crate::error::{Failure, unavailable};
use crate::schema::sessions;
use crate::statement::Statement;
use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, Nullable, Text, Timestamptz, Uuid as SqlUuid};
use dwar_kernel::{
    IdentityId, KeyMode, ProjectId, Sealed, SessionId, StoreError, Timestamp, TokenId,
};
use dwar_session::{
    CurrentAccess, Presented, Replay, Rotation, RotationPolicy, Rotations, Session, SessionStore,
    Started, Successor,
};
use uuid::Uuid;

#[derive(Queryable, Selectable)]
#[diesel(table_name = sessions)]
struct SessionRow {
    id: Uuid,
    project_id: Uuid,
    mode: String,
    identity_id: Uuid,
    created_at: Timestamp,
    expires_at: Timestamp,
    refresh_digest: Vec<u8>,
    generation: i64,
    rotations: Vec<u8>,
    refresh_expires_at: Timestamp,
    access_token_id: Uuid,
    access_issued_at: Timestamp,
    access_expires_at: Timestamp,
    replay_key: Option<Vec<u8>>,
    replay_answer: Option<Vec<u8>>,
    revoked_at: Option<Timestamp>,
}

impl From<&Session> for SessionRow {
    fn from(session: &Session) -> Self {
        let replay = session.replay.as_ref();
        Self {
            id: session.id.uuid(),
            project_id: session.project.uuid(),
            mode: session.mode.as_str().to_owned(),
            identity_id: session.identity.uuid(),
            created_at: session.created_at,
            expires_at: session.expires_at,
            refresh_digest: session.refresh.0.to_vec(),
            generation: session.generation.into(),
            rotations: session.rotations.to_bytes(),
            refresh_expires_at: session.refresh_expires_at,
            access_token_id: session.access.token.uuid(),
            access_issued_at: session.access.issued_at,
            access_expires_at: session.access.expires_at,
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
        let generation = read.known("generation", row.generation.try_into().ok())?;
        let rotations = Rotations::from_bytes(&row.rotations, generation);
        let replay = match (row.replay_key, row.replay_answer) {
            (None, None) => None,
            (key, answer) => Some(Replay {
                key: read.digest("replay_key", key.unwrap_or_default())?,
                answer: Sealed(read.known("replay_answer", answer)?),
            }),
        };
        Ok(Self {
            id: row.id.into(),
            project: row.project_id.into(),
            mode: read.parse("mode", &row.mode)?,
            identity: row.identity_id.into(),
            created_at: row.created_at,
            expires_at: row.expires_at,
            refresh: read.digest("refresh_digest", row.refresh_digest)?,
            generation,
            rotations: read.known("rotations", rotations)?,
            refresh_expires_at: row.refresh_expires_at,
            access: CurrentAccess {
                token: row.access_token_id.into(),
                issued_at: row.access_issued_at,
                expires_at: row.access_expires_at,
            },
            replay,
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

/// Locks the identity, so that a deletion waits and takes the session with it, or comes first. A
/// session that is there already was put there by this call, before its answer was lost.
const START: &str = ", home AS ( \
         SELECT i.id FROM identities i, given g \
         WHERE i.id = g.identity_id AND i.project_id = g.project_id AND i.mode = g.mode \
         FOR KEY SHARE OF i \
     ), started AS ( \
         INSERT INTO sessions (id, project_id, mode, identity_id, created_at, expires_at, \
             refresh_digest, generation, rotations, refresh_expires_at, access_token_id, \
             access_issued_at, access_expires_at, replay_key, replay_answer, revoked_at) \
         SELECT g.* FROM given g, home ON CONFLICT (id) DO NOTHING \
     ) SELECT FROM home";

/// Exchanges the pair of a session that is as it was seen.
const EXCHANGE: &str = " UPDATE sessions s SET refresh_digest = g.refresh, \
     generation = g.generation, rotations = g.rotations, refresh_expires_at = g.refresh_end, \
     access_token_id = g.access, access_issued_at = g.access_start, \
     access_expires_at = g.access_end, replay_key = g.replay_key, \
     replay_answer = g.replay_answer \
     FROM given g WHERE s.id = g.session AND s.project_id = g.project AND s.mode = g.mode \
     AND s.refresh_digest = g.seen AND s.revoked_at IS NULL";

/// Ends a session that is as it was seen, and records the event.
const END: &str = concat!(
    ", ended AS ( \
         UPDATE sessions s SET revoked_at = g.at FROM given g \
         WHERE s.id = g.session AND s.project_id = g.project AND s.mode = g.mode \
         AND s.refresh_digest = g.seen AND s.revoked_at IS NULL \
         RETURNING s.id, s.identity_id \
     ), happened AS ( \
         SELECT g.event AS id, g.project AS project_id, g.mode, g.kind, g.at AS happened_at, \
             ended.id AS subject_id, ended.identity_id AS related_id FROM ended, given g \
     ), ",
    recording!("subject_id, related_id"),
    " SELECT FROM ended"
);

/// How often a session that others change is looked at before they have to be waited for.
const LOOKS: usize = 5;

/// Applies a rule to a session, as it was seen or as it is, and keeps what that changed.
///
/// Nothing is locked in between: the write is guarded, and where it finds another session than the
/// rule had, the rule gets that one.
fn change<T>(
    conn: &mut PgConnection,
    (project, mode, id): (ProjectId, KeyMode, SessionId),
    mut seen: Option<Session>,
    mut rule: impl FnMut(&mut Session) -> T,
) -> Result<Option<T>, Failure> {
    for _ in 0..LOOKS {
        let before = match seen.take() {
            Some(seen) => seen,
            None => match by_id(conn, project, mode, id)? {
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

/// Keeps `session` if it still is on record as it was `before`: every exchange has a digest of its
/// own, and an end is for ever.
fn keep(conn: &mut PgConnection, before: &Session, session: &Session) -> QueryResult<bool> {
    let row = SessionRow::from(session);
    let kept = match session.event(before) {
        None => Statement::new(EXCHANGE)
            .given::<SqlUuid, _>("session", row.id)
            .given::<SqlUuid, _>("project", row.project_id)
            .given::<Text, _>("mode", row.mode)
            .given::<Binary, _>("seen", before.refresh.0.as_slice())
            .given::<Binary, _>("refresh", row.refresh_digest)
            .given::<BigInt, _>("generation", row.generation)
            .given::<Binary, _>("rotations", row.rotations)
            .given::<Timestamptz, _>("refresh_end", row.refresh_expires_at)
            .given::<SqlUuid, _>("access", row.access_token_id)
            .given::<Timestamptz, _>("access_start", row.access_issued_at)
            .given::<Timestamptz, _>("access_end", row.access_expires_at)
            .given::<Nullable<Binary>, _>("replay_key", row.replay_key)
            .given::<Nullable<Binary>, _>("replay_answer", row.replay_answer)
            .execute(conn)?,
        Some(event) => Statement::new(END)
            .given::<SqlUuid, _>("session", row.id)
            .given::<SqlUuid, _>("project", row.project_id)
            .given::<Text, _>("mode", row.mode)
            .given::<Binary, _>("seen", before.refresh.0.as_slice())
            .given::<Text, _>("event", event.id())
            .given::<Text, _>("kind", event.kind.as_str())
            .given::<Timestamptz, _>("at", event.at)
            .execute(conn)?,
    };
    Ok(kept == 1)
}

fn by_id(
    conn: &mut PgConnection,
    project: ProjectId,
    mode: KeyMode,
    session: SessionId,
) -> Result<Option<Session>, Failure> {
    let row: Option<SessionRow> = sessions::table
        .find(session.uuid())
        .filter(sessions::project_id.eq(project.uuid()))
        .filter(sessions::mode.eq(mode.as_str()))
        .select(SessionRow::as_select())
        .get_result(conn)
        .optional()?;
    Ok(row.map(Session::try_from).transpose()?)
}

#[async_trait]
impl SessionStore for PostgresStore {
    async fn start(&self, session: Session) -> Result<Started, StoreError> {
        self.pool
            .run(move |conn| {
                let row = SessionRow::from(&session);
                let found = Statement::new(START)
                    .given::<SqlUuid, _>("id", row.id)
                    .given::<SqlUuid, _>("project_id", row.project_id)
                    .given::<Text, _>("mode", row.mode)
                    .given::<SqlUuid, _>("identity_id", row.identity_id)
                    .given::<Timestamptz, _>("created_at", row.created_at)
                    .given::<Timestamptz, _>("expires_at", row.expires_at)
                    .given::<Binary, _>("refresh_digest", row.refresh_digest)
                    .given::<BigInt, _>("generation", row.generation)
                    .given::<Binary, _>("rotations", row.rotations)
                    .given::<Timestamptz, _>("refresh_expires_at", row.refresh_expires_at)
                    .given::<SqlUuid, _>("access_token_id", row.access_token_id)
                    .given::<Timestamptz, _>("access_issued_at", row.access_issued_at)
                    .given::<Timestamptz, _>("access_expires_at", row.access_expires_at)
                    .given::<Nullable<Binary>, _>("replay_key", row.replay_key)
                    .given::<Nullable<Binary>, _>("replay_answer", row.replay_answer)
                    .given::<Nullable<Timestamptz>, _>("revoked_at", row.revoked_at)
                    .execute(conn)?;
                Ok(if found == 0 { Started::IdentityGone } else { Started::Started })
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
        // Repeated after a lost answer, the rule knows its own exchange by its successor.
        self.pool
            .run(move |conn| {
                let key = (seen.project, seen.mode, seen.id);
                change(conn, key, Some(seen.clone()), |session| {
                    session.rotate(&presented, next.clone(), policy, now)
                })
            })
            .await
    }

    async fn find(
        &self,
        project: ProjectId,
        mode: KeyMode,
        session: SessionId,
    ) -> Result<Option<Session>, StoreError> {
        self.pool.run(move |conn| by_id(conn, project, mode, session)).await
    }

    async fn revoke(
        &self,
        project: ProjectId,
        mode: KeyMode,
        session: SessionId,
        token: TokenId,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut repeated = false;
        let revoked = self
            .pool
            .run(move |conn| {
                let again = std::mem::replace(&mut repeated, true);
                change(conn, (project, mode, session), None, |session| {
                    // An end at this instant is this call's own, of which the answer was lost.
                    let own = session.access.token == token && session.revoked_at == Some(now);
                    session.revoke(token, now) || again && own
                })
            })
            .await?;
        Ok(revoked.unwrap_or_default())
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
