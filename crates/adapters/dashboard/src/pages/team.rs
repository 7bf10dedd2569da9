use super::go;
use super::parts::{Danger, Field, done, notice, secret};
use crate::format::time;
use crate::layout::{Frame, Page, csrf};
use crate::refusal::Refusal;
use crate::texts::team as texts;
use crate::visit::{Posted, Visit};
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use dwar_app::{Invited, ManageError};
use dwar_kernel::OperatorId;
use dwar_operator::{Access, Command, Operator, Role};
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

/// What stands for an owner of the installation in forms.
const EVERYTHING: &str = "everything";

/// Whose access is to be changed. One form is on the page at a time: each lists every project.
#[derive(Deserialize)]
pub(crate) struct TeamQuery {
    #[serde(default)]
    change: String,
}

/// `GET /team`.
pub(crate) async fn show(visit: Visit, request: HttpRequest, query: Query<TeamQuery>) -> Page {
    let above = done(&request, texts::DONE);
    list(&visit, StatusCode::OK, &above, query.change.parse().ok()).await
}

#[derive(Deserialize)]
pub(crate) struct InviteForm {
    name: String,
    project: String,
    role: String,
}

/// `POST /team`: somebody new, with a link that is shown this once.
pub(crate) async fn invite(posted: Posted<InviteForm>) -> Page {
    let Posted { visit, form } = posted;
    visit.console.manage.control.admit(&visit.by, Command::InviteOperator, None)?;
    let access = access_of(&form.project, &form.role)?;
    let (status, sentence) =
        match visit.console.manage.operators.invite(&visit.by, &form.name, access).await {
            Ok(invited) => return page(&visit, StatusCode::OK, &fresh(&visit, &invited)).await,
            Err(ManageError::Conflict(sentence)) => (StatusCode::CONFLICT, sentence.to_owned()),
            Err(ManageError::Invalid { reason, .. }) => (StatusCode::UNPROCESSABLE_ENTITY, reason),
            Err(cause) => return Err(cause.into()),
        };
    page(&visit, status, &notice("bad", &sentence)).await
}

#[derive(Deserialize)]
pub(crate) struct AccessForm {
    project: String,
    role: String,
}

/// `POST /team/{operator}/access`: what somebody may do in one project, or everywhere.
pub(crate) async fn change(posted: Posted<AccessForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let id = id_of(&path)?;
    let present = find(&visit, id).await?;
    let access = match form.role.as_str() {
        "none" => {
            let mut access = present.access.clone();
            if form.project != EVERYTHING {
                let project = form.project.parse().map_err(|_| Refusal::Unreadable)?;
                access.projects.remove(&project);
            }
            access
        }
        role => {
            let mut access = access_of(&form.project, role)?;
            if !access.everything && !present.access.everything {
                let mut projects = present.access.projects.clone();
                projects.append(&mut access.projects);
                access.projects = projects;
            }
            access
        }
    };
    visit.console.manage.operators.change_access(&visit.by, id, access).await?;
    Ok(go("/team?done=changed"))
}

#[derive(Deserialize)]
pub(crate) struct RemoveForm {
    word: String,
}

/// `POST /team/{operator}/remove`.
pub(crate) async fn remove(posted: Posted<RemoveForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let id = id_of(&path)?;
    let present = find(&visit, id).await?;
    if form.word.trim() != present.name.as_str() {
        let above = notice("bad", texts::WRONG_WORD);
        return page(&visit, StatusCode::UNPROCESSABLE_ENTITY, &above).await;
    }
    visit.console.manage.operators.remove(&visit.by, id).await?;
    Ok(go("/team?done=removed"))
}

fn id_of(path: &Path<String>) -> Result<OperatorId, Refusal> {
    path.parse().map_err(|_| Refusal::NotFound)
}

async fn find(visit: &Visit, id: OperatorId) -> Result<Operator, Refusal> {
    let all = visit.console.manage.operators.list(&visit.by).await?;
    all.into_iter().find(|operator| operator.id == id).ok_or(Refusal::NotFound)
}

fn access_of(project: &str, role: &str) -> Result<Access, Refusal> {
    if project == EVERYTHING {
        return Ok(Access::everything());
    }
    let project = project.parse().map_err(|_| Refusal::Unreadable)?;
    Ok(Access::one(project, Role::from_word(role).ok_or(Refusal::Unreadable)?))
}

async fn page(visit: &Visit, status: StatusCode, above: &Markup) -> Page {
    list(visit, status, above, None).await
}

/// The page, with a form for the access of one operator.
async fn list(
    visit: &Visit,
    status: StatusCode,
    above: &Markup,
    changed: Option<OperatorId>,
) -> Page {
    let operators = visit.console.manage.operators.list(&visit.by).await?;
    let mut projects = visit.projects().await?;
    projects.retain(|project| visit.by.access.grants(&Access::one(project.id, Role::Viewer)));
    let content = html! {
        div.stack {
            (above)
            ul.stack { @for operator in &operators { (member(visit, operator, &projects, changed)) } }
            (invite_form(visit, &projects))
        }
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD);
    frame.answer(status, &content)
}

fn fresh(visit: &Visit, invited: &Invited) -> Markup {
    let link = format!("{}/invite#{}", visit.console.base_url, invited.secret.expose());
    html! {
        section.card.notice.good role="status" {
            h2 { (texts::LINK_FOR) " " (invited.operator.name) }
            p { (texts::LINK_ONCE) " " (time(invited.expires_at)) }
            (secret("fresh-link", &link))
        }
    }
}

fn member(
    visit: &Visit,
    operator: &Operator,
    projects: &[Project],
    changed: Option<OperatorId>,
) -> Markup {
    let name = operator.name.as_str();
    let myself = operator.id == visit.present.operator.id;
    let id = format!("remove-{}", operator.id);
    let action = format!("/team/{}/remove", operator.id);
    let danger = Danger {
        id: &id,
        action: &action,
        summary: texts::REMOVE,
        consequences: &texts::REMOVE_STOPS,
        word: name,
        button: texts::REMOVE,
    };
    let role_in = |project: &Project| operator.access.projects.get(&project.id);
    let mine = visit.by.access.grants(&operator.access);
    html! {
        li.card id=(operator.id) {
            div.member-head {
                span.avatar.round aria-hidden="true" { (name.chars().next().unwrap_or('?').to_uppercase()) }
                div {
                    strong { (name) } @if myself { " " span.pill { (texts::YOU) } }
                    p.muted {
                        @match operator.signed_in_at {
                            Some(at) => { (texts::LAST_IN) " " (time(at)) }
                            None => { (texts::NEVER_IN) }
                        }
                    }
                }
                div.pills {
                    @if operator.access.everything { span.pill.good { (texts::OWNER_OF_ALL) } }
                    @for project in projects {
                        @if let Some(role) = role_in(project) { span.pill { (project.name) ": " (texts::role(*role)) } }
                    }
                    @if operator.totp.is_some() { span.pill.good { (texts::TWO_FACTORS) } }
                    @else { span.pill.warn { (texts::ONE_FACTOR) } }
                }
            }
            @if mine && !myself {
                @if operator.access.everything {}
                @else if changed == Some(operator.id) { (access_forms(visit, operator, projects)) }
                @else {
                    p { a.button href={ "/team?change=" (operator.id) "#" (operator.id) }
                        aria-label={ (texts::CHANGE) " " (name) } { (texts::CHANGE) } }
                }
                (danger.show(visit, &[]))
            }
        }
    }
}

/// A form for each role that somebody has, which begins with it, so that saving it unread changes
/// nothing; and one for projects in which they have none.
fn access_forms(visit: &Visit, operator: &Operator, projects: &[Project]) -> Markup {
    let role_in = |project: &Project| operator.access.projects.get(&project.id).copied();
    let (with, without): (Vec<&Project>, Vec<_>) =
        projects.iter().partition(|project| role_in(project).is_some());
    let form = |fields: Markup| {
        html! {
            form.row method="post" action={ "/team/" (operator.id) "/access" } {
                (csrf(visit)) (fields) button.plain type="submit" { (texts::SAVE) }
            }
        }
    };
    html! {
        @for project in with {
            @let id = format!("role-in-{}", project.id);
            (form(html! {
                input type="hidden" name="project" value=(project.id);
                (role_choice(&id, &project.name, role_in(project), true))
            }))
        }
        @if visit.by.access.everything || !without.is_empty() {
            (form(html! {
                (project_choice("changed-project", &without, visit.by.access.everything))
                (role_choice("changed-role", texts::ROLE, None, true))
            }))
        }
    }
}

fn project_choice(id: &str, projects: &[&Project], all: bool) -> Markup {
    html! {
        div.field {
            label for=(id) { (texts::WHERE) }
            select id=(id) name="project" {
                @for project in projects { option value=(project.id) { (project.name) } }
                @if all { option value=(EVERYTHING) { (texts::EVERYWHERE) } }
            }
        }
    }
}

/// Begins with `present`; `none` is a choice where there may be no role.
fn role_choice(id: &str, label: &str, present: Option<Role>, none: bool) -> Markup {
    html! {
        div.field {
            label for=(id) { (label) }
            select id=(id) name="role" {
                @for role in Role::ALL {
                    option value=(role.as_str()) selected[Some(role) == present] { (texts::role(role)) }
                }
                @if none { option value="none" selected[present.is_none()] { (texts::NO_ROLE) } }
            }
        }
    }
}

fn invite_form(visit: &Visit, projects: &[Project]) -> Markup {
    let all: Vec<&Project> = projects.iter().collect();
    let name = Field {
        name: "name",
        label: texts::NAME,
        placeholder: "asha@example.com",
        required: true,
        ..Field::TEXT
    };
    html! {
        form.card method="post" action="/team" {
            (csrf(visit))
            h2 { (texts::INVITE) }
            p.muted { (texts::INVITE_HINT) }
            div.row {
                (name.show())
                (project_choice("invite-project", &all, visit.by.access.everything))
                (role_choice("invite-role", texts::ROLE, Some(Role::Viewer), false))
                button.primary type="submit" { (texts::INVITE_BUTTON) }
            }
            dl.facts.roles { @for role in Role::ALL { dt { (texts::role(role)) } dd.muted { (texts::role_means(role)) } } }
        }
    }
}
