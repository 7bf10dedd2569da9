use super::parts::{DestructiveForm, fresh_secret};
use super::reply::Reply;
use crate::answer::{PageResult, go};
use crate::form::{Field, RefusedForm};
use crate::format::time;
use crate::layout::{Frame, csrf};
use crate::navigation::project_link;
use crate::refusal::Refusal;
use crate::texts::{common, team, tokens as texts};
use crate::visit::{EmptyForm, SignedInForm, Visit};
use actix_web::web::Path;
use dwar_console::{ManageError, NewAdminToken};
use dwar_kernel::AdminTokenId;
use dwar_operator::{Access, AdminSecret, AdminToken, Command, Role};
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// The form value for an owner of the installation.
const EVERYTHING: &str = "everything";
/// The prefix of the names of check boxes; a project's id follows.
const PROJECT: &str = "project-";
const DAY: u64 = 86_400;

/// `GET /tokens`: for owners of the installation.
pub(crate) async fn show(visit: Visit) -> PageResult {
    page(&visit, Reply::of_address(&visit, texts::DONE)).await
}

#[derive(Deserialize)]
pub(crate) struct NewTokenForm {
    name: String,
    role: String,
    days: String,
    may_delegate: Option<String>,
    #[serde(flatten)]
    boxes: BTreeMap<String, String>,
}

impl NewTokenForm {
    fn lifetime(&self) -> Option<Duration> {
        let days: u32 = self.days.trim().parse().ok()?;
        Some(Duration::from_secs(u64::from(days) * DAY))
    }

    fn access(&self) -> Result<Access, Refusal> {
        if self.role == EVERYTHING {
            return Ok(Access::everything());
        }
        let role = Role::from_word(&self.role).ok_or(Refusal::Unreadable)?;
        let ids = self.boxes.keys().filter_map(|name| name.strip_prefix(PROJECT));
        let pair = |id: &str| Ok((id.parse().map_err(|_| Refusal::Unreadable)?, role));
        Ok(Access { everything: false, projects: ids.map(pair).collect::<Result<_, Refusal>>()? })
    }
}

/// `POST /tokens`: creates a token, which is shown only once.
pub(crate) async fn make(SignedInForm { visit, form }: SignedInForm<NewTokenForm>) -> PageResult {
    visit.console.manage.control.admit(&visit.by, Command::MakeToken, None)?;
    let access = form.access()?;
    let Some(lifetime) = form.lifetime() else {
        return refused(visit, "days", texts::NO_DAYS).await;
    };
    let may_delegate = form.may_delegate.is_some();
    let new = NewAdminToken { name: &form.name, access, lifetime, may_delegate };
    match visit.console.manage.tokens.make(&visit.by, new).await {
        Ok((token, secret)) => page(&visit, Reply::done(fresh(&token, &secret))).await,
        Err(ManageError::Invalid { field, reason }) => refused(visit, field, &reason).await,
        Err(cause) => Err(cause.into()),
    }
}

pub(crate) async fn revoke(
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
    path: Path<String>,
) -> PageResult {
    let id: AdminTokenId = path.parse().map_err(|_| Refusal::NotFound)?;
    let tokens = visit.console.manage.tokens.list(&visit.by).await?;
    let token = tokens.iter().find(|token| token.id == id).ok_or(Refusal::NotFound)?;
    if !visit.confirms(&token.name) {
        return page(&visit, Reply::invalid(texts::WRONG_WORD)).await;
    }
    visit.console.manage.tokens.revoke(&visit.by, id).await?;
    Ok(go("/tokens?done=revoked"))
}

/// The page with the form for a new token as it was typed.
async fn refused(visit: Visit, field: &str, reason: &str) -> PageResult {
    // A lifetime is typed in days.
    let field = if field == "lifetime_seconds" { "days" } else { field };
    let visit = visit.refuse(RefusedForm::new("make", field, reason));
    page(&visit, Reply::refused(&visit)).await
}

async fn page(visit: &Visit, reply: Reply) -> PageResult {
    let tokens = visit.console.manage.tokens.list(&visit.by).await?;
    let projects = visit.projects().await?;
    let content = html! {
        @if tokens.is_empty() { section.empty { p { (texts::EMPTY) } } }
        ul.stack { @for token in &tokens { (row(visit, token, &projects)) } }
        (make_form(visit, &projects))
    };
    reply.show(&Frame::new(visit, texts::TITLE, texts::LEAD), &content)
}

fn fresh(token: &AdminToken, shown: &AdminSecret) -> Markup {
    let (title, once) =
        (format!("{} {}", texts::FRESH, token.name), html! { p { (texts::FRESH_ONCE) } });
    fresh_secret(&title, &once, "fresh-token", shown.expose())
}

fn row(visit: &Visit, token: &AdminToken, projects: &[Project]) -> Markup {
    let id = &format!("revoke-{}", token.id);
    let action = &format!("/tokens/{}/revoke", token.id);
    let danger = DestructiveForm { id, action, word: &token.name, words: &texts::REVOKE };
    let known = |id| projects.iter().find(|project| project.id == id);
    html! {
        li.card {
            h2 {
                (token.name)
                @if !token.is_alive(visit.now()) { " " span.pill.bad { (common::EXPIRED) } }
            }
            div.pills {
                @if token.may_delegate { span.pill.bad { (texts::MAY_DELEGATE) } }
                @if token.access.everything { span.pill.warn { (texts::EVERYTHING) } }
                @for (project, role) in &token.access.projects {
                    span.pill {
                        @if let Some(known) = known(*project) { (project_link(visit, known)) } @else { (texts::GONE) }
                        ": " (team::role(*role))
                    }
                }
            }
            dl.facts.across {
                dt { (texts::MADE_BY) } dd { (token.made_by) " · " (time(token.made_at)) }
                dt { (texts::EXPIRES) } dd { (time(token.expires_at)) }
                dt { (common::LAST_USED) }
                dd {
                    @match token.used_at {
                        Some(at) => {
                            (time(at))
                            @if let Some(from) = token.used_from { " " (common::FROM_ADDRESS) " " (from) }
                        }
                        None => { (common::NEVER) }
                    }
                }
            }
            (danger.show(visit, &[]))
        }
    }
}

fn make_form(visit: &Visit, projects: &[Project]) -> Markup {
    let form = visit.form("make", true);
    let name = Field {
        name: "name",
        label: common::NAME,
        placeholder: "deploy",
        required: true,
        ..Field::TEXT
    };
    let days = Field {
        name: "days",
        label: texts::DAYS,
        value: "90",
        hint: texts::DAYS_HINT,
        required: true,
        ..Field::TEXT
    };
    let role =
        Field { name: "role", label: texts::ROLE, value: Role::Viewer.as_str(), ..Field::TEXT };
    let one = |role: Role| (role.as_str().to_owned(), team::role(role).to_owned());
    let mut roles: Vec<_> = Role::ALL.into_iter().map(one).collect();
    roles.push((EVERYTHING.to_owned(), texts::OWNER_OF_ALL.to_owned()));
    html! {
        form.card.stack method="post" action="/tokens" data-keep {
            (csrf(visit))
            h2 { (texts::MAKE) }
            p.muted { (texts::MAKE_HINT) }
            div.columns {
                (form.field(&name))
                (form.choice(&role, &roles))
                (form.field(&days))
            }
            fieldset aria-describedby="projects-hint" {
                legend.label { (texts::PROJECTS) }
                p #projects-hint.hint { (texts::PROJECTS_HINT) }
                div.checks {
                    @for project in projects {
                        @let box_name = format!("{PROJECT}{}", project.id);
                        label.check {
                            input type="checkbox" name=(box_name) value="on"
                                checked[form.value(&box_name, "") == "on"];
                            span { (project.name) }
                        }
                    }
                }
            }
            (form.check("may_delegate", texts::DELEGATE, texts::DELEGATE_HINT, false))
            div { button.primary type="submit" { (texts::MAKE_BUTTON) } }
        }
    }
}
