use crate::format::time;
use crate::layout::{Frame, Page};
use crate::texts::audit as texts;
use crate::visit::Visit;
use actix_web::web::{Path, Query};
use chrono::SecondsFormat;
use dwar_kernel::read_instant;
use dwar_operator::{AuditCursor, AuditEntry, AuditFilter, Command};
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Entries on one page.
const LINES: u32 = 50;

/// Where a page goes on.
#[derive(Deserialize)]
pub(crate) struct From {
    #[serde(default)]
    at: Option<String>,
    #[serde(default)]
    id: Option<String>,
}

/// `GET /audit`: everything, for owners of the installation.
pub(crate) async fn all(visit: Visit, from: Query<From>) -> Page {
    page(&visit, None, &from).await
}

/// `GET /p/{project}/audit`: what was changed in one project.
pub(crate) async fn of_project(visit: Visit, path: Path<String>, from: Query<From>) -> Page {
    let project = visit.project(&path, Command::ListProjectAudit).await?;
    page(&visit, Some(project), &from).await
}

async fn page(visit: &Visit, project: Option<Project>, from: &From) -> Page {
    let id = project.as_ref().map(|project| project.id);
    let filter = AuditFilter { project: id, ..AuditFilter::default() };
    let parse = |from: &From| {
        Some(AuditCursor {
            at: read_instant(from.at.as_ref()?)?,
            id: from.id.as_ref()?.parse().ok()?,
        })
    };
    let entries =
        visit.console.manage.audit_log.page(&visit.by, filter, parse(from), LINES).await?;
    let names = visit.projects().await?.into_iter().map(|one| (one.id, one.name));
    let names: BTreeMap<_, _> = names.collect();
    let next = entries.last().filter(|_| entries.len() == LINES as usize);
    let content = html! {
        @if entries.is_empty() { section.empty { p { (texts::EMPTY) } } }
        @else {
            div.table tabindex="0" role="region" aria-label=(texts::TITLE) {
                table.cards {
                    thead { tr {
                        @for head in texts::HEADS { th scope="col" { (head) } }
                    } }
                    tbody { @for entry in &entries { (row(entry, &names)) } }
                }
            }
        }
        @if let Some(last) = next {
            @let at = last.at.to_rfc3339_opts(SecondsFormat::Millis, true);
            p.more { a.button href={ "?at=" (at) "&id=" (last.id) } { (texts::OLDER) } }
        }
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD).of(project.as_ref());
    frame.show(&content)
}

fn row(entry: &AuditEntry, names: &BTreeMap<dwar_kernel::ProjectId, String>) -> Markup {
    let project = entry.project.and_then(|id| names.get(&id));
    html! {
        tr {
            td data-label=(texts::HEADS[0]) { (time(entry.at)) }
            td data-label=(texts::HEADS[1]) { (entry.actor) @if let Some(from) = entry.from { br; small { (from) } } }
            td.outcome { span title=(entry.action) { (texts::did(entry.action)) } }
            td.wrap-anywhere data-label=(texts::HEADS[3]) {
                @match (project, entry.project) {
                    // A project goes by its name; what has none goes by its id.
                    (Some(name), Some(id)) if entry.subject == id.to_string() => {
                        span title=(entry.subject) { (name) }
                    }
                    (Some(name), _) => { (entry.subject) br; small { (name) } }
                    _ => (entry.subject),
                }
            }
            td.wrap-anywhere data-label=(texts::HEADS[4]) { (change(entry)) }
        }
    }
}

/// What it was and what it is to be, a line per fact.
fn change(entry: &AuditEntry) -> Markup {
    let (before, after) = (facts(entry.before.as_deref()), facts(entry.after.as_deref()));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    html! {
        ul.facts-list {
            @for name in names {
                li {
                    span.muted { (name.replace('_', " ")) } " "
                    @if let Some(was) = before.get(name) { (was) }
                    @if let Some(is) = after.get(name) { " → " strong { (is) } }
                }
            }
        }
    }
}

/// The pairs of a JSON object, as texts.
fn facts(json: Option<&str>) -> BTreeMap<String, String> {
    let read: Option<BTreeMap<String, Value>> = json.and_then(|it| serde_json::from_str(it).ok());
    let text = |value| match value {
        Value::String(text) => text,
        Value::Null => texts::NOTHING.to_owned(),
        other => other.to_string(),
    };
    read.unwrap_or_default().into_iter().map(|(name, value)| (name, text(value))).collect()
}
