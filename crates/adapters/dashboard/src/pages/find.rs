//! The search behind Ctrl-K, and its page for browsers without scripts.

use super::activity::show_number;
use crate::answer::{PageResult, html_answer};
use crate::language::Language;
use crate::layout::{Frame, csrf, shortcuts};
use crate::navigation::{action_links, first_page, page_links};
use crate::texts::{common, find as texts};
use crate::visit::{SignedInForm, Visit};
use actix_web::http::StatusCode;
use actix_web::web::Query;
use dwar_console::{SearchResult, SearchResults};
use dwar_kernel::{KeyMode, ProjectId};
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

/// Longer than any name or id.
const LONGEST: usize = 200;

/// `GET /find`: the form and the list of pages. The search text is never part of the address.
pub(crate) async fn show(visit: Visit, query: Query<FindForm>) -> PageResult {
    let project = near(&visit, &query.project).await;
    let finds = visit.console.manage.find.find(&visit.by, id(&project), "").await?;
    page(&visit, &project, "", &finds)
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct FindForm {
    q: String,
    project: String,
    mode: String,
    /// Set during typing: only a list is requested, and numbers are not searched for.
    part: String,
}

/// `POST /find`: the results for the text, or every record of a number.
pub(crate) async fn search(SignedInForm { visit, form }: SignedInForm<FindForm>) -> PageResult {
    let text: String = form.q.chars().take(LONGEST).collect();
    let project = near(&visit, &form.project).await;
    let finds = visit.console.manage.find.find(&visit.by, id(&project), &text).await?;
    if !form.part.is_empty() {
        let list = list(&visit, project.as_ref(), &text, &finds);
        return Ok(html_answer(StatusCode::OK, list));
    }
    match &finds.number {
        Some((project, phone)) => {
            let mode = KeyMode::from_word(&form.mode).unwrap_or(visit.mode);
            show_number(&visit, project, mode, phone).await
        }
        None => page(&visit, &project, &text, &finds),
    }
}

/// The project that the operator is looking at, if they may see it.
async fn near(visit: &Visit, id: &str) -> Option<Project> {
    let id: ProjectId = id.parse().ok()?;
    let mut known = visit.projects().await.ok()?;
    let at = known.iter().position(|project| project.id == id)?;
    Some(known.swap_remove(at))
}

fn id(project: &Option<Project>) -> Option<ProjectId> {
    project.as_ref().map(|project| project.id)
}

fn page(visit: &Visit, project: &Option<Project>, text: &str, finds: &SearchResults) -> PageResult {
    let project = project.as_ref();
    let content = html! {
        div.stack {
            form.card method="post" action="/find" role="search" {
                (csrf(visit))
                @if let Some(project) = project { input type="hidden" name="project" value=(project.id); }
                input type="hidden" name="mode" value=(visit.mode);
                div.row {
                    div.field {
                        label for="q" { (texts::WHAT.0) }
                        input #q name="q" type="search" value=(text) autocomplete="off" autofocus;
                    }
                    button.primary type="submit" { (texts::TITLE.0) }
                }
            }
            section.card.found { (list(visit, project, text, finds)) }
            section.card { h2 { (texts::SHORTCUTS.0) } (shortcuts(Language::English)) }
        }
    };
    Frame::new(visit, texts::TITLE.0, texts::LEAD).of(project).show(&content)
}

/// Matching pages, projects and objects with this id, as links.
fn list(visit: &Visit, project: Option<&Project>, text: &str, finds: &SearchResults) -> Markup {
    if finds.number.is_some() {
        return html! { p.muted data-number { (texts::NUMBER) } };
    }
    let wanted = text.trim().to_lowercase();
    let of_kind = |kind| move |(href, label): (String, &str)| (href, label.to_owned(), kind);
    let pages = page_links(visit, project).into_iter().map(of_kind(""));
    let actions = action_links(visit, project).into_iter().map(of_kind(texts::ACTION));
    let named = pages.chain(actions).filter(|it| it.1.to_lowercase().contains(&wanted));
    let found = finds.found.iter().filter_map(|found| link(visit, found));
    let all: Vec<_> = named.chain(found).collect();
    html! {
        @if all.is_empty() { p.muted { (texts::NOTHING) } }
        @else {
            ul { @for (href, label, kind) in &all {
                li { a href=(href) { (label) @if !kind.is_empty() { " " small { (kind) } } } }
            } }
        }
    }
}

/// The address of a result, its name and its kind.
fn link(visit: &Visit, found: &SearchResult) -> Option<(String, String, &'static str)> {
    let at = |project: &Project, page: String| format!("/p/{}/{page}", project.id);
    Some(match found {
        SearchResult::Project(project) => {
            let page = first_page(visit, project)?;
            (page, project.name.clone(), texts::PROJECT)
        }
        SearchResult::Request(project, otp) => {
            (at(project, format!("activity/{otp}")), otp.to_string(), texts::REQUEST)
        }
        SearchResult::Identity(project, mode, identity) => {
            visit.may(project, Command::ListSessions).then_some(())?;
            let page = format!("identities/{mode}/{identity}/sessions");
            (at(project, page), identity.to_string(), common::IDENTITY)
        }
        SearchResult::Endpoint(project, endpoint) => {
            let page = format!("settings/events/{endpoint}");
            (at(project, page), endpoint.to_string(), texts::ENDPOINT)
        }
        SearchResult::Key(project, mode) => {
            (at(project, "keys".to_owned()), texts::key(*mode).to_owned(), texts::KEY)
        }
    })
}
