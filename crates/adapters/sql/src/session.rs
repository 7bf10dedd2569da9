//! Rows of sessions.

use crate::schema::{api_keys, projects, sessions};
use crate::{At, Id, Row};
use diesel::prelude::*;
use dwar_kernel::{KeyMode, Sealed, StoreError};
use dwar_session::{CurrentAccess, KeyAndSession, Replay, Rotations, Session};

/// Row of `sessions`: digests and lifetimes of one session.
#[derive(Queryable, Selectable, Insertable, AsChangeset, Identifiable)]
#[diesel(table_name = sessions, treat_none_as_null = true)]
pub struct SessionRow {
    pub id: Id,
    pub project_id: Id,
    pub mode: String,
    pub identity_id: Id,
    pub created_at: At,
    pub expires_at: At,
    pub refresh_digest: Vec<u8>,
    pub generation: i64,
    pub rotations: Vec<u8>,
    pub refresh_expires_at: At,
    pub access_token_id: Id,
    pub access_issued_at: At,
    pub access_expires_at: At,
    pub replay_key: Option<Vec<u8>>,
    pub replay_answer: Option<Vec<u8>>,
    pub revoked_at: Option<At>,
}

impl From<&Session> for SessionRow {
    fn from(session: &Session) -> Self {
        let replay = session.replay.as_ref();
        Self {
            id: session.id.into(),
            project_id: session.project_mode.project.into(),
            mode: session.project_mode.mode.as_str().to_owned(),
            identity_id: session.identity.into(),
            created_at: session.created_at.into(),
            expires_at: session.expires_at.into(),
            refresh_digest: session.refresh.0.to_vec(),
            generation: session.generation.into(),
            rotations: session.rotations.to_bytes(),
            refresh_expires_at: session.refresh_expires_at.into(),
            access_token_id: session.access.token.into(),
            access_issued_at: session.access.issued_at.into(),
            access_expires_at: session.access.expires_at.into(),
            replay_key: replay.map(|replay| replay.key.0.to_vec()),
            replay_answer: replay.map(|replay| replay.answer.0.clone()),
            revoked_at: session.revoked_at.map(At::from),
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
            id: read.id("id", row.id)?,
            project_mode: read.project_mode(row.project_id, &row.mode)?,
            identity: read.id("identity_id", row.identity_id)?,
            created_at: read.at("created_at", row.created_at)?,
            expires_at: read.at("expires_at", row.expires_at)?,
            refresh: read.digest("refresh_digest", row.refresh_digest)?,
            generation,
            rotations: read.known("rotations", rotations)?,
            refresh_expires_at: read.at("refresh_expires_at", row.refresh_expires_at)?,
            access: CurrentAccess {
                token: read.id("access_token_id", row.access_token_id)?,
                issued_at: read.at("access_issued_at", row.access_issued_at)?,
                expires_at: read.at("access_expires_at", row.access_expires_at)?,
            },
            replay,
            revoked_at: read.maybe_at("revoked_at", row.revoked_at)?,
        })
    }
}

/// A key, joined with the session that was looked up with it.
#[derive(Queryable, Selectable)]
#[diesel(table_name = api_keys)]
pub struct KeyAndSessionRow {
    pub id: Id,
    pub project_id: Id,
    pub mode: String,
    #[diesel(select_expression = projects::own_issuer)]
    pub own_issuer: bool,
    #[diesel(select_expression = projects::token_claims)]
    pub token_claims: Option<String>,
    #[diesel(select_expression = projects::token_type)]
    pub token_type: String,
    #[diesel(embed)]
    pub session: Option<SessionRow>,
}

impl TryFrom<KeyAndSessionRow> for KeyAndSession {
    type Error = StoreError;

    fn try_from(row: KeyAndSessionRow) -> Result<Self, StoreError> {
        let read = Row::new("api_keys", row.id);
        let project_mode = read.project_mode(row.project_id, &row.mode)?;
        let has_own = row.own_issuer && project_mode.mode == KeyMode::Live;
        let of_project = Row::new("projects", row.project_id);
        let own =
            has_own.then(|| of_project.token_profile(row.token_claims.as_deref(), &row.token_type));
        Ok(Self {
            key: read.id("id", row.id)?,
            project_mode,
            own_profile: own.transpose()?,
            session: row.session.map(Session::try_from).transpose()?,
        })
    }
}
