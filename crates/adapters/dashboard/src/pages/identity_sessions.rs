use super::identities;
use super::parts::{DestructiveForm, table};
use super::reply::Reply;
use crate::answer::{PageResult, go};
use crate::format::{exact, time};
use crate::layout::{Frame, post_button_of};
use crate::refusal::Refusal;
use crate::texts::{common, identity_sessions as texts};
use crate::visit::{SignedInForm, Visit};
use actix_web::web::{Path, Query};
use dwar_kernel::{IdentityId, KeyMode, Timestamp, read_instant};
use dwar_operator::Command;
use dwar_project::Project;
use dwar_session::{Session, SessionCursor};
use maud::{Markup, html};
use serde::Deserialize;

const LINES: u32 = 50;

type IdentityPath = Path<(String, String, String)>;

#[derive(Default, Deserialize)]
pub(crate) struct SessionsQuery {
    at: Option<String>,
    session: Option<String>,
}

/// One identity in one mode of a project.
struct SessionOwner {
    project: Project,
    mode: KeyMode,
    identity: IdentityId,
}

impl SessionOwner {
    async fn of(visit: &Visit, whose: &IdentityPath, command: Command) -> Result<Self, Refusal> {
        let (project, mode, identity) = &**whose;
        let project = visit.project(project, command).await?;
        let mode = mode.parse().map_err(|_| Refusal::NotFound)?;
        let identity = identity.parse().map_err(|_| Refusal::NotFound)?;
        Ok(Self { project, mode, identity })
    }

    fn address(&self) -> String {
        identities::address(&self.project, self.mode, self.identity)
    }
}

pub(crate) async fn show(
    visit: Visit,
    whose: IdentityPath,
    from: Query<SessionsQuery>,
) -> PageResult {
    let owner = SessionOwner::of(&visit, &whose, Command::ListSessions).await?;
    page(&visit, &owner, Reply::of_address(&visit, texts::DONE), &from).await
}

#[derive(Deserialize)]
pub(crate) struct EndSessionsForm {
    /// The session to end; all if empty.
    #[serde(default)]
    session: String,
}

/// `POST /p/{project}/identities/{mode}/{identity}/sessions/end`: ends one session, or all.
pub(crate) async fn end(
    SignedInForm { visit, form }: SignedInForm<EndSessionsForm>,
    whose: IdentityPath,
) -> PageResult {
    let owner = SessionOwner::of(&visit, &whose, Command::EndSessions).await?;
    let (project_mode, sessions) =
        (owner.project.id.in_mode(owner.mode), &visit.console.manage.identities);
    let ended = if !form.session.is_empty() {
        let session = form.session.parse().map_err(|_| Refusal::NotFound)?;
        sessions.end_session(&visit.by, project_mode, owner.identity, session).await?;
        1
    } else if visit.confirms(texts::END_WORD) {
        sessions.end_sessions(&visit.by, project_mode, owner.identity).await?
    } else {
        return page(&visit, &owner, Reply::invalid(texts::WRONG_WORD), &SessionsQuery::default())
            .await;
    };
    let word = if ended == 0 { "none" } else { "ended" };
    Ok(go(&format!("{}?done={word}", owner.address())))
}

async fn page(
    visit: &Visit,
    owner: &SessionOwner,
    reply: Reply,
    from: &SessionsQuery,
) -> PageResult {
    let after = |from: &SessionsQuery| {
        let at = read_instant(from.at.as_ref()?)?;
        Some(SessionCursor { at, session: from.session.as_ref()?.parse().ok()? })
    };
    let project_mode = owner.project.id.in_mode(owner.mode);
    let list = &visit.console.manage.identities;
    let sessions =
        list.sessions(&visit.by, project_mode, owner.identity, after(from), LINES).await?;
    let may = visit.may(&owner.project, Command::EndSessions);
    let content = html! {
        dl.facts {
            dt { (common::IDENTITY) } dd { code { (owner.identity) } }
        }
        @if sessions.is_empty() { section.empty { p { (texts::EMPTY) } } }
        @else { (sessions_table(visit, owner, &sessions, may)) }
        @if let Some(last) = sessions.last().filter(|_| sessions.len() == LINES as usize) {
            p.more { a.button href={ "?at=" (exact(last.created_at)) "&session=" (last.id) } { (common::OLDER) } }
        }
        @if may && !sessions.is_empty() { section.card { (end_all(visit, owner)) } }
        p { a href={ "/p/" (owner.project.id) "/identities?mode=" (owner.mode) } { (texts::BACK) } }
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD).of(&owner.project);
    let frame = frame.in_mode(owner.mode, "identities");
    reply.show(&frame, &content)
}

fn sessions_table(visit: &Visit, owner: &SessionOwner, sessions: &[Session], may: bool) -> Markup {
    let (now, end) = (visit.now(), format!("{}/end", owner.address()));
    let rows = html! {
        @for session in sessions {
            tr {
                td { (time(session.created_at)) br; small { code { (session.id) } } }
                td {
                    @match session.refreshed_at() {
                        Some(at) => (time(at)),
                        None => span.muted { (common::NEVER) },
                    }
                }
                td { (time(session.expires_at)) }
                td { (state(session, now)) }
                td {
                    @if may && session.is_alive(now) {
                        @let id = session.id.to_string();
                        (post_button_of(visit, &end, ("plain", texts::END, Some(&id)), Some(("session", &id))))
                    }
                }
            }
        }
    };
    table(texts::TITLE, None, &texts::HEADS, &rows)
}

fn state(session: &Session, now: Timestamp) -> Markup {
    html! {
        @match session.revoked_at {
            Some(at) => { (texts::ENDED) " " (time(at)) }
            None if session.is_alive(now) => span.pill.good { (texts::COUNTS) },
            None => (common::EXPIRED),
        }
    }
}

fn end_all(visit: &Visit, owner: &SessionOwner) -> Markup {
    let action = &format!("{}/end", owner.address());
    DestructiveForm { id: "end", action, word: texts::END_WORD, words: &texts::END_ALL }
        .show(visit, &[])
}
