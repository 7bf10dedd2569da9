use crate::endpoint::{
    AdminResult, Operation, Paging, ProjectRequest, Query, delete, get, limit, place,
};
use crate::views::{Page, id, instant};
use dwar_kernel::{IdentityId, ProjectMode, SessionId, Timestamp};
use dwar_operator::Command;
use dwar_session::{Session, SessionCursor};
use serde::Serialize;
use utoipa::ToSchema;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get(
            "/projects/{project}/identities/{mode}/{identity}/sessions",
            Command::ListSessions,
            list,
        )
        .summary("List the sessions of an identity, including ended ones, newest first"),
        delete(
            "/projects/{project}/identities/{mode}/{identity}/sessions",
            Command::EndSessions,
            end_all,
        )
        .summary("End every session of an identity immediately"),
        delete(
            "/projects/{project}/identities/{mode}/{identity}/sessions/{session}",
            Command::EndSession,
            end_one,
        )
        .summary("End one session immediately"),
    ]
}

/// A session of an identity.
#[derive(Serialize, ToSchema)]
#[schema(as = Session)]
struct SessionBody {
    /// `session_id` of the public API.
    #[schema(format = "uuid")]
    session_id: String,
    /// Whether it is neither ended nor expired.
    alive: bool,
    #[schema(format = "date-time")]
    created_at: String,
    /// Time of the last refresh.
    #[schema(format = "date-time")]
    refreshed_at: Option<String>,
    #[schema(format = "date-time")]
    expires_at: String,
    /// When it was ended before its expiry; null if it was not.
    #[schema(format = "date-time")]
    ended_at: Option<String>,
}

/// Number of sessions that this request ended.
#[derive(Serialize, ToSchema)]
struct EndedSessions {
    #[schema(format = "uuid")]
    identity_id: String,
    sessions_ended: u64,
}

async fn list(at: ProjectRequest, Query(paging): Query<Paging>) -> AdminResult<Page<SessionBody>> {
    let (project_mode, identity) = whose(&at)?;
    let place = place(paging.cursor.as_deref())?;
    let after = place.map(|(at, session)| SessionCursor { at, session });
    let (limit, now) = (limit(paging.limit)?, at.api.tools.now());
    // One session more than the limit shows whether there are more.
    let sessions =
        at.api.manage.identities.sessions(&at.by, project_mode, identity, after, limit + 1).await?;
    Ok(Page::cut(&sessions, limit, cursor, |session| view(session, now)))
}

async fn end_all(at: ProjectRequest) -> AdminResult<EndedSessions> {
    let (project_mode, identity) = whose(&at)?;
    let sessions_ended =
        at.api.manage.identities.end_sessions(&at.by, project_mode, identity).await?;
    Ok(EndedSessions { identity_id: id(identity), sessions_ended })
}

async fn end_one(at: ProjectRequest) -> AdminResult<EndedSessions> {
    let (project_mode, identity) = whose(&at)?;
    let session: SessionId = at.part("session")?;
    at.api.manage.identities.end_session(&at.by, project_mode, identity, session).await?;
    Ok(EndedSessions { identity_id: id(identity), sessions_ended: 1 })
}

fn whose(at: &ProjectRequest) -> AdminResult<(ProjectMode, IdentityId)> {
    Ok((at.project.in_mode(at.part("mode")?), at.part("identity")?))
}

fn cursor(session: &Session) -> String {
    format!("{}_{}", instant(session.created_at), session.id)
}

fn view(session: &Session, now: Timestamp) -> SessionBody {
    SessionBody {
        session_id: id(session.id),
        alive: session.is_alive(now),
        created_at: instant(session.created_at),
        refreshed_at: session.refreshed_at().map(instant),
        expires_at: instant(session.expires_at),
        ended_at: session.revoked_at.map(instant),
    }
}
