use super::parts::{DestructiveForm, notice, table};
use crate::answer::PageResult;
use crate::format::{moment, time};
use crate::layout::{Frame, csrf};
use crate::refusal::Refusal;
use crate::texts::{common, identities as texts};
use crate::visit::{SignedInForm, Visit};
use actix_web::http::StatusCode;
use actix_web::web::Path;
use dwar_app::FoundIdentity;
use dwar_console::{LatestIdentities, ManageError};
use dwar_kernel::{IdentityId, KeyMode, Phone};
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

pub(crate) async fn show(visit: Visit, path: Path<String>) -> PageResult {
    let project = visit.project(&path, Command::FindIdentity).await?;
    let project_mode = project.id.in_mode(visit.mode);
    let latest = visit.console.manage.identities.latest(&visit.by, project_mode).await?;
    page(&visit, &project, visit.mode, StatusCode::OK, &list(&project, visit.mode, &latest))
}

fn list(project: &Project, mode: KeyMode, latest: &LatestIdentities) -> Markup {
    let rows = html! {
        @for it in &latest.identities {
            tr {
                td.masked data-label=(common::PHONE) {
                    a href=(address(project, mode, it.id)) { (it.phone) }
                }
                td data-label=(texts::LAST) { (moment(it.last_verified_at)) }
                td data-label=(texts::FIRST) { (moment(it.created_at)) }
                td data-label=(texts::ID) { code { (it.id) } }
            }
        }
    };
    let heads = [common::PHONE, texts::LAST, texts::FIRST, texts::ID];
    html! {
        @if latest.identities.is_empty() {
            section.empty { p { (texts::NONE_YET) @if let Some(at) = latest.looked_back_to { " " (texts::LOOKED_BACK_TO) " " (moment(at)) "." } } }
        }
        @else {
            section.card {
                h2 { (texts::LATEST) }
                p.muted { (texts::LATEST_LEAD) @if let Some(at) = latest.looked_back_to { " " (texts::LOOKED_BACK_TO) " " (moment(at)) "." } }
                (table(texts::LATEST, Some("cards"), &heads, &rows))
            }
        }
    }
}

/// The address of the sessions of an identity.
pub(super) fn address(project: &Project, mode: KeyMode, id: IdentityId) -> String {
    format!("/p/{}/identities/{}/{id}/sessions", project.id, mode.as_str())
}

/// The number is in a body and not in an address, because addresses end up in histories and logs.
#[derive(Deserialize)]
pub(crate) struct FindIdentityForm {
    mode: String,
    wanted: String,
}

/// `POST /p/{project}/identities`: finds the identity of a number or an id.
pub(crate) async fn look_up(
    posted: SignedInForm<FindIdentityForm>,
    path: Path<String>,
) -> PageResult {
    let SignedInForm { visit, form } = posted;
    let project = visit.project(&path, Command::FindIdentity).await?;
    let mode: KeyMode = form.mode.parse().map_err(|_| Refusal::Unreadable)?;
    let wanted = form.wanted.trim();
    let (finder, project_mode) = (&visit.console.manage.identities, project.id.in_mode(mode));
    let found = match (wanted.replace([' ', '-'], "").parse::<Phone>(), wanted.parse()) {
        (Ok(phone), _) => {
            finder.find(&visit.by, project_mode, &phone).await.map(|it| (it.phone.e164(), it))
        }
        (_, Ok(id)) => {
            finder.show(&visit.by, project_mode, id).await.map(|it| (it.phone.to_string(), it))
        }
        _ => Err(ManageError::NotFound("such identity")),
    };
    match found {
        Ok((number, found)) => {
            let below = card(&visit, &project, mode, &found, &number);
            page(&visit, &project, mode, StatusCode::OK, &below)
        }
        Err(ManageError::NotFound(_)) => {
            let below = html! { section.empty { p { (texts::NOBODY) } } };
            page(&visit, &project, mode, StatusCode::NOT_FOUND, &below)
        }
        Err(cause) => Err(cause.into()),
    }
}

#[derive(Deserialize)]
pub(crate) struct EraseIdentityForm {
    mode: String,
    id: String,
}

pub(crate) async fn erase(
    SignedInForm { visit, form }: SignedInForm<EraseIdentityForm>,
    path: Path<String>,
) -> PageResult {
    let project = visit.project(&path, Command::EraseIdentity).await?;
    let mode: KeyMode = form.mode.parse().map_err(|_| Refusal::Unreadable)?;
    if !visit.confirms(texts::ERASE_WORD) {
        let below = notice("bad", texts::WRONG_WORD);
        return page(&visit, &project, mode, StatusCode::UNPROCESSABLE_ENTITY, &below);
    }
    let id = form.id.parse().map_err(|_| Refusal::NotFound)?;
    let erased =
        visit.console.manage.identities.erase(&visit.by, project.id.in_mode(mode), id).await?;
    let below = notice("good", &format!("{} {}", texts::ERASED, erased.sessions_revoked));
    page(&visit, &project, mode, StatusCode::OK, &below)
}

fn page(
    visit: &Visit,
    project: &Project,
    mode: KeyMode,
    status: StatusCode,
    below: &Markup,
) -> PageResult {
    let content = html! {
        div.stack { (search(visit, project, mode)) (below) }
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD).of(project);
    let frame = frame.in_mode(mode, "identities");
    frame.answer(status, &content)
}

fn search(visit: &Visit, project: &Project, mode: KeyMode) -> Markup {
    html! {
        form.card method="post" action={ "/p/" (project.id) "/identities" } {
            (csrf(visit))
            div.row {
                div.field {
                    label for="wanted" { (texts::PHONE) }
                    input #wanted name="wanted" type="text" autocomplete="off" required
                        value=[visit.typed.get("wanted")]
                        placeholder="98765 43210";
                }
                input type="hidden" name="mode" value=(mode);
                button.primary type="submit" { (texts::LOOK_UP) }
            }
            p.hint { (texts::START) }
        }
    }
}

/// Shows the number in full if the search was by number; masked if it was by id.
fn card(
    visit: &Visit,
    project: &Project,
    mode: KeyMode,
    found: &FoundIdentity,
    number: &str,
) -> Markup {
    let id = found.id.to_string();
    let action = &format!("/p/{}/identities/erase", project.id);
    let danger =
        DestructiveForm { id: "erase", action, word: texts::ERASE_WORD, words: &texts::ERASE };
    html! {
        section.card {
            dl.facts {
                dt { (common::PHONE) } dd { (number) }
                dt { (texts::ID) } dd { code { (id) } }
                dt { (texts::FIRST) } dd { (time(found.created_at)) }
                dt { (texts::LAST) } dd { (time(found.last_verified_at)) }
            }
            p {
                a.button href=(address(project, mode, found.id)) { (texts::SESSIONS) }
            }
            @if visit.may(project, Command::EraseIdentity) {
                (danger.show(visit, &[("mode", mode.as_str()), ("id", &id)]))
            }
        }
    }
}
