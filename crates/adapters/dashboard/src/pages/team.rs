use super::parts::{DestructiveForm, example, fresh_secret};
use super::passkeys::told;
use super::reply::Reply;
use crate::answer::{PageResult, go};
use crate::form::{Field, RefusedForm};
use crate::format::{moment, time};
use crate::layout::{Frame, csrf, initial, post_button_of};
use crate::navigation::project_link;
use crate::refusal::Refusal;
use crate::texts::{common, team as texts};
use crate::visit::{EmptyForm, SignedInForm, Visit};
use actix_web::http::StatusCode;
use actix_web::web::{Path, Query};
use dwar_console::{Invited, ManageError, SignInState};
use dwar_kernel::OperatorId;
use dwar_operator::{Access, Command, Lockout, Operator, Role};
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

/// The form values for an owner of the installation, and for no role.
const EVERYTHING: &str = "everything";
const NONE: &str = "none";

/// The operator whose access is to be changed. A page has one such form at a time, because each
/// lists every project.
#[derive(Deserialize)]
pub(crate) struct TeamQuery {
    #[serde(default)]
    change: String,
}

pub(crate) async fn show(visit: Visit, query: Query<TeamQuery>) -> PageResult {
    page(&visit, Reply::of_address(&visit, texts::DONE), query.change.parse().ok()).await
}

#[derive(Deserialize)]
pub(crate) struct InviteForm {
    name: String,
    project: String,
    role: String,
}

/// `POST /team`: invites an operator with a link that is shown only once.
pub(crate) async fn invite(SignedInForm { visit, form }: SignedInForm<InviteForm>) -> PageResult {
    visit.console.manage.control.admit(&visit.by, Command::InviteOperator, None)?;
    let access = access_of(&form.project, &form.role)?;
    let (status, sentence) =
        match visit.console.manage.operators.invite(&visit.by, &form.name, access).await {
            Ok(invited) => {
                return page(&visit, Reply::done(fresh(&visit, &invited)), None).await;
            }
            Err(ManageError::Conflict(sentence)) => (StatusCode::CONFLICT, sentence.to_owned()),
            Err(ManageError::Invalid { reason, .. }) => (StatusCode::UNPROCESSABLE_ENTITY, reason),
            Err(cause) => return Err(cause.into()),
        };
    let visit = visit.refuse(RefusedForm::new("invite", "name", &sentence));
    page(&visit, Reply { status, ..Reply::refused(&visit) }, None).await
}

/// `POST /team/{operator}/invitation`: another link for an operator who has not signed in yet.
pub(crate) async fn renew(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: Path<String>,
) -> PageResult {
    let present = find(&visit, id_of(&path)?).await?;
    let renewed = visit.console.manage.operators.renew_invitation(&visit.by, present.id).await;
    let reply = Reply::of(renewed.map(|invited| fresh(&visit, &invited)))?;
    page(&visit, reply, None).await
}

/// `POST /team/{operator}/unlock`: resets an operator's failed sign-ins.
pub(crate) async fn unlock(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: Path<String>,
) -> PageResult {
    let present = find(&visit, id_of(&path)?).await?;
    visit.console.manage.operators.unlock(&visit.by, present.id).await?;
    Ok(go("/team?done=unlocked"))
}

#[derive(Deserialize)]
pub(crate) struct AccessForm {
    project: String,
    role: String,
    #[serde(default)]
    confirmed: String,
}

/// `POST /team/{operator}/access`: changes an operator's role in one project, or everywhere. A page
/// asks for confirmation before an operator gets more rights.
pub(crate) async fn change(
    SignedInForm { visit, form }: SignedInForm<AccessForm>,
    path: Path<String>,
) -> PageResult {
    let id = id_of(&path)?;
    let present = find(&visit, id).await?;
    let access = match form.role.as_str() {
        NONE => {
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
    if access.rises_above(&present.access) && form.confirmed.is_empty() {
        let present = visit.console.manage.operators.admit_access(&visit.by, id, &access).await?;
        return confirm(&visit, &present, &access, &form).await;
    }
    visit.console.manage.operators.change_access(&visit.by, id, access).await?;
    Ok(go("/team?done=changed"))
}

/// Describes in a sentence what the operator will be able to do, and asks for confirmation.
async fn confirm(
    visit: &Visit,
    operator: &Operator,
    access: &Access,
    form: &AccessForm,
) -> PageResult {
    let projects = visit.projects().await?;
    let project = projects.iter().find(|project| form.project == project.id.to_string());
    let can = match project {
        Some(project) => {
            let owner = form.role == Role::Owner.as_str();
            let gained = access.gains(&operator.access, project.id);
            texts::will_be_able(&gained, owner, project.name.as_str())
        }
        None => texts::EVERYTHING_EVERYWHERE.to_owned(),
    };
    let content = html! {
        form.card.stack.confirm method="post" action={ "/team/" (operator.id) "/access" } {
            (csrf(visit))
            input type="hidden" name="project" value=(form.project);
            input type="hidden" name="role" value=(form.role);
            input type="hidden" name="confirmed" value="yes";
            p { strong { (operator.name) } " " (texts::WILL_BE_ABLE) " " (can) "." }
            div.row {
                button.primary type="submit" { (texts::CONFIRM) }
                a.button href="/team" { (common::CANCEL) }
            }
        }
    };
    Frame::new(visit, texts::CONFIRM_TITLE, texts::CONFIRM_LEAD).show(&content)
}

/// `POST /team/{operator}/remove`. An operator who has not signed in yet is removed without typing
/// a word.
pub(crate) async fn remove(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: Path<String>,
) -> PageResult {
    let id = id_of(&path)?;
    let present = find(&visit, id).await?;
    if !present.is_invited() && !visit.confirms(present.name.as_str()) {
        return page(&visit, Reply::invalid(texts::WRONG_WORD), None).await;
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

/// The page, with the form for the access of one operator.
async fn page(visit: &Visit, reply: Reply, changed: Option<OperatorId>) -> PageResult {
    let operators = visit.console.manage.operators.list(&visit.by).await?;
    let states = visit.console.manage.operators.sign_in_states(&visit.by, &operators).await?;
    let mut projects = visit.projects().await?;
    projects.retain(|project| visit.by.access.grants(&Access::one(project.id, Role::Viewer)));
    let content = html! {
        ul.stack {
            @for operator in &operators {
                @if let Some(state) = states.get(&operator.id) {
                    (member(visit, (operator, state), &projects, changed))
                }
            }
        }
        (invite_form(visit, &projects))
    };
    reply.show(&Frame::new(visit, texts::TITLE, texts::LEAD), &content)
}

fn fresh(visit: &Visit, invited: &Invited) -> Markup {
    let link = format!("{}/invite#{}", visit.console.base_url, invited.secret.expose());
    let title = format!("{} {}", texts::LINK_FOR, invited.operator.name);
    let once = html! { p { (texts::LINK_ONCE) " " (time(invited.expires_at)) } };
    fresh_secret(&title, &once, "fresh-link", &link)
}

fn member(
    visit: &Visit,
    (operator, state): (&Operator, &SignInState),
    projects: &[Project],
    changed: Option<OperatorId>,
) -> Markup {
    let name = operator.name.as_str();
    let myself = operator.id == visit.present.operator.id;
    let role_in = |project: &Project| operator.access.projects.get(&project.id);
    let mine = visit.by.access.grants(&operator.access);
    let changing = changed == Some(operator.id);
    html! {
        li.card id=(operator.id) {
            div.member-head {
                span.avatar.round aria-hidden="true" { (initial(name)) }
                div {
                    div.member-name { strong title=(name) { (name) } @if myself { span.pill { (texts::YOU) } } }
                    p.muted {
                        @match (operator.signed_in_at, state.link_until) {
                            (Some(_), Some(until)) => { (texts::RESET_UNTIL) " " (time(until)) }
                            (Some(at), None) => { (texts::LAST_IN) " " (time(at)) }
                            (None, Some(until)) => { (texts::LINK_UNTIL) " " (time(until)) }
                            (None, None) => { (texts::LINK_OVER) }
                        }
                    }
                }
                div.pills {
                    @if operator.access.everything { span.pill.good { (texts::OWNER_OF_ALL) } }
                    @for project in projects {
                        @if let Some(role) = role_in(project) { span.pill { (project_link(visit, project)) ": " (texts::role(*role)) } }
                    }
                    @if operator.totp.is_some() { span.pill.good { (texts::TWO_FACTORS) } }
                    @else if operator.password.is_some() { span.pill.warn { (texts::ONE_FACTOR) } }
                    @else if !operator.is_invited() { span.pill.warn { (texts::NO_PASSWORD) } }
                }
                @if mine && !myself {
                    @if !changing && !operator.access.everything {
                        a.button href={ "/team?change=" (operator.id) "#" (operator.id) }
                            aria-label={ (texts::CHANGE) " " (name) } { (texts::CHANGE) }
                    }
                    @if operator.is_invited() {
                        (button(visit, operator, ("invitation", "plain", texts::NEW_LINK)))
                        (button(visit, operator, ("remove", "danger", texts::REVOKE)))
                    } @else { (removal(visit, operator)) }
                }
            }
            (signing_in(visit, (operator, state), (mine, myself)))
            @if mine && !myself && changing { (access_forms(visit, operator, projects)) }
        }
    }
}

/// An operator's passkeys, locks, and the actions for them.
fn signing_in(
    visit: &Visit,
    (operator, state): (&Operator, &SignInState),
    (mine, myself): (bool, bool),
) -> Markup {
    let Lockout { locked, locked_until, slowed_until } = state.lockout;
    html! {
        @if !state.passkeys.is_empty() {
            ul.muted.passkeys { @for passkey in &state.passkeys { li { (texts::PASSKEY) " " (told(passkey)) } } }
        }
        @if !state.lockout.is_none() {
            div.notice.warn role="status" {
                @if let Some(until) = locked_until {
                    p { (texts::locked(locked)) " " (moment(until)) "." }
                }
                @if let Some(until) = slowed_until {
                    p { (texts::SLOWED) " " (moment(until)) ". " (texts::SLOWED_NOT) }
                }
                @if mine { (button(visit, operator, ("unlock", "plain", texts::UNLOCK))) }
            }
        }
        @if mine && !myself && !operator.is_invited() {
            @let name = operator.name.as_str().replace('\'', r"'\''");
            details {
                summary { (texts::RESET) }
                p.muted { (texts::RESET_HINT) }
                (example(&format!("dwar operator reset --name '{name}'")))
            }
        }
    }
}

fn button(visit: &Visit, operator: &Operator, (path, class, label): (&str, &str, &str)) -> Markup {
    let action = format!("/team/{}/{path}", operator.id);
    post_button_of(visit, &action, (class, label, Some(operator.name.as_str())), None)
}

fn removal(visit: &Visit, operator: &Operator) -> Markup {
    let id = &format!("remove-{}", operator.id);
    let action = &format!("/team/{}/remove", operator.id);
    let word = operator.name.as_str();
    DestructiveForm { id, action, word, words: &texts::REMOVE }.show(visit, &[])
}

/// A form for each of an operator's roles, which starts with that role so that saving it unchanged
/// does nothing; and one for projects in which they have none.
fn access_forms(visit: &Visit, operator: &Operator, projects: &[Project]) -> Markup {
    let role_in = |project: &Project| operator.access.projects.get(&project.id).copied();
    let (with, without): (Vec<&Project>, Vec<_>) =
        projects.iter().partition(|project| role_in(project).is_some());
    let form = |fields: Markup| {
        html! {
            form.row.access method="post" action={ "/team/" (operator.id) "/access" } {
                (csrf(visit)) (fields) button.plain type="submit" { (common::SAVE) }
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
                (project_choice("changed-project", &without, "", visit.by.access.everything))
                (role_choice("changed-role", texts::ROLE, None, true))
            }))
        }
    }
}

fn project_choice(id: &str, projects: &[&Project], present: &str, all: bool) -> Markup {
    let everywhere = all.then(|| (EVERYTHING.to_owned(), texts::EVERYWHERE));
    let projects = projects.iter().map(|it| (it.id.to_string(), it.name.as_str()));
    let field = Field { id, name: "project", label: texts::WHERE, value: present, ..Field::TEXT };
    field.select(projects.chain(everywhere))
}

/// Starts with `present`; `none` adds the option of no role.
fn role_choice(id: &str, label: &str, present: Option<Role>, none: bool) -> Markup {
    let roles = Role::ALL.map(|role| (role.as_str(), texts::role(role)));
    let none = none.then_some((NONE, texts::NO_ROLE));
    let value = present.map_or(NONE, Role::as_str);
    let field = Field { id, name: "role", label, value, ..Field::TEXT };
    field.select(roles.into_iter().chain(none))
}

fn invite_form(visit: &Visit, projects: &[Project]) -> Markup {
    let form = visit.form("invite", true);
    let role = Role::from_word(form.value("role", Role::Viewer.as_str()));
    let all: Vec<&Project> = projects.iter().collect();
    let name = Field {
        name: "name",
        label: common::NAME,
        placeholder: "asha@example.com",
        required: true,
        ..Field::TEXT
    };
    html! {
        form.card #invite method="post" action="/team" data-keep {
            (csrf(visit))
            h2 { (texts::INVITE) }
            p.muted { (texts::INVITE_HINT) }
            div.row {
                (form.field(&name))
                (project_choice("invite-project", &all, form.value("project", ""), visit.by.access.everything))
                (role_choice("invite-role", texts::ROLE, role, false))
                button.primary type="submit" { (texts::INVITE_BUTTON) }
            }
            dl.facts.roles { @for role in Role::ALL { dt { (texts::role(role)) } dd.muted { (texts::role_means(role)) } } }
        }
    }
}
