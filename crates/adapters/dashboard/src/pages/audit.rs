use super::wallet_statement::instant;
use crate::format::time;
use crate::layout::{Frame, Page};
use crate::refusal::Refusal;
use crate::texts::audit as texts;
use crate::visit::Visit;
use actix_web::web::{Path, Query};
use chrono::SecondsFormat;
use dwar_kernel::{ProjectId, read_instant};
use dwar_operator::{Action, AuditCursor, AuditEntry, AuditFilter, Command};
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Entries on one page.
const LINES: u32 = 50;

/// Which entries are wanted, and where a page goes on.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AuditQuery {
    action: String,
    /// The first and the last day, as days are in India.
    from: String,
    until: String,
    at: String,
    id: String,
}

impl AuditQuery {
    fn filter(&self, project: Option<ProjectId>) -> Result<AuditFilter, Refusal> {
        let action = match self.action.as_str() {
            "" => None,
            word => Some(Action::from_word(word).ok_or(Refusal::Unreadable)?),
        };
        let (since, until) = (instant(&self.from, 0)?, instant(&self.until, 1)?);
        Ok(AuditFilter { project, action, since, until })
    }

    fn after(&self) -> Option<AuditCursor> {
        Some(AuditCursor { at: read_instant(&self.at)?, id: self.id.parse().ok()? })
    }

    fn is_filtered(&self) -> bool {
        [&self.action, &self.from, &self.until].iter().any(|field| !field.is_empty())
    }

    /// The address of what follows an entry.
    fn older(&self, last: &AuditEntry) -> String {
        let mut query = form_urlencoded::Serializer::new("?".to_owned());
        let filters = [("action", &self.action), ("from", &self.from), ("until", &self.until)];
        query.extend_pairs(filters.into_iter().filter(|(_, value)| !value.is_empty()));
        let at = last.at.to_rfc3339_opts(SecondsFormat::Millis, true);
        query.append_pair("at", &at).append_pair("id", &last.id.to_string()).finish()
    }
}

/// `GET /audit`: everything, for owners of the installation.
pub(crate) async fn all(visit: Visit, query: Query<AuditQuery>) -> Page {
    page(&visit, None, &query).await
}

/// `GET /p/{project}/audit`: what was changed in one project.
pub(crate) async fn of_project(visit: Visit, path: Path<String>, query: Query<AuditQuery>) -> Page {
    let project = visit.project(&path, Command::ListProjectAudit).await?;
    page(&visit, Some(project), &query).await
}

async fn page(visit: &Visit, project: Option<Project>, query: &AuditQuery) -> Page {
    let filter = query.filter(project.as_ref().map(|project| project.id))?;
    let log = &visit.console.manage.audit_log;
    let entries = log.page(&visit.by, filter, query.after(), LINES).await?;
    let names = visit.projects().await?.into_iter().map(|one| (one.id, one.name));
    let names: BTreeMap<_, _> = names.collect();
    let next = entries.last().filter(|_| entries.len() == LINES as usize);
    let content = html! {
        (filters(visit, query))
        @if entries.is_empty() {
            section.empty { p { (if query.is_filtered() { texts::NONE_WANTED } else { texts::EMPTY }) } }
        } @else {
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
            p.more { a.button href=(query.older(last)) { (texts::OLDER) } }
        }
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD).of(project.as_ref());
    frame.show(&content)
}

fn filters(visit: &Visit, query: &AuditQuery) -> Markup {
    html! {
        form.filters method="get" action=(visit.path) aria-label=(texts::FILTERS) {
            div.field {
                label for="action" { (texts::HEADS[2]) }
                select #action name="action" {
                    option value="" { (texts::ANYTHING) }
                    @for action in Action::ALL {
                        option value=(action) selected[query.action == action.as_str()] {
                            (texts::did(action))
                        }
                    }
                }
            }
            @for (name, label, value) in [("from", texts::FROM, &query.from), ("until", texts::UNTIL, &query.until)] {
                div.field {
                    label for=(name) { (label) }
                    input id=(name) name=(name) type="date" value=(value);
                }
            }
            button.plain type="submit" { (texts::APPLY) }
            @if query.is_filtered() { a.button href=(visit.path) { (texts::CLEAR) } }
        }
    }
}

fn row(entry: &AuditEntry, names: &BTreeMap<ProjectId, String>) -> Markup {
    let project = entry.project.and_then(|id| names.get(&id));
    html! {
        tr {
            td data-label=(texts::HEADS[0]) { (time(entry.at)) }
            td data-label=(texts::HEADS[1]) { (entry.actor) @if let Some(from) = entry.from { br; small { (from) } } }
            td.outcome { span title=(entry.action) { (texts::did(entry.action)) } }
            td.wrap-anywhere data-label=(texts::HEADS[3]) {
                @match (project, entry.project) {
                    // A project goes by its name; what has none goes by its id.
                    (Some(name), Some(id)) if entry.subject == id.to_string() => (project_link(id, name)),
                    (Some(name), Some(id)) => { (entry.subject) br; small { (project_link(id, name)) } }
                    _ => (entry.subject),
                }
            }
            td.wrap-anywhere data-label=(texts::HEADS[4]) { (change(entry)) }
        }
    }
}

fn project_link(id: ProjectId, name: &str) -> Markup {
    html! { a href={ "/p/" (id) "/audit" } title=(id) { (name) } }
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
