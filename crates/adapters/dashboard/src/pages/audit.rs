use super::audit_names::AuditNames;
use super::parts::table;
use super::wallet_statement::instant;
use crate::address::query;
use crate::answer::PageResult;
use crate::form::Field;
use crate::format::{exact, moment, plain_moment, rupees};
use crate::layout::Frame;
use crate::refusal::Refusal;
use crate::texts::{audit as texts, common};
use crate::visit::Visit;
use actix_web::web::{Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use dwar_admin::views::AuditLine;
use dwar_kernel::{Paise, ProjectId, read_instant};
use dwar_operator::{Action, Actor, ActorFilter, AuditCursor, AuditEntry, AuditFilter, Command};
use dwar_project::Project;
use dwar_wire::download;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::once;

const LINES: u32 = 50;

/// The filter of the entries, and where a page continues.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct AuditQuery {
    actor: String,
    action: String,
    /// The first and the last day, in Indian time.
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
        let actor = match self.actor.as_str() {
            "" => None,
            word => Some(word.parse().map_err(|_| Refusal::Unreadable)?),
        };
        let (since, until) = (instant(&self.from, 0)?, instant(&self.until, 1)?);
        Ok(AuditFilter { project, actor, action, since, until })
    }

    fn after(&self) -> Option<AuditCursor> {
        Some(AuditCursor { at: read_instant(&self.at)?, id: self.id.parse().ok()? })
    }

    /// The content of the filter fields, by their names.
    fn filters(&self) -> [(&'static str, &str); 4] {
        let Self { actor, action, from, until, .. } = self;
        [("actor", actor), ("action", action), ("from", from), ("until", until)]
    }

    fn is_filtered(&self) -> bool {
        self.filters().iter().any(|(_, value)| !value.is_empty())
    }

    /// The address of the file with all matching entries.
    fn export(&self, page: &str) -> String {
        format!("{page}/export?{}", query(self.filters()))
    }

    fn older(&self, last: &AuditEntry) -> String {
        let (at, id) = (exact(last.at), last.id.to_string());
        let cursor = [("at", at.as_str()), ("id", id.as_str())];
        format!("?{}", query(self.filters().into_iter().chain(cursor)))
    }
}

/// `GET /audit`: every entry, for owners of the installation.
pub(crate) async fn all(visit: Visit, query: Query<AuditQuery>) -> PageResult {
    page(&visit, None, &query).await
}

/// `GET /p/{project}/audit`: the entries of one project.
pub(crate) async fn of_project(
    visit: Visit,
    path: Path<String>,
    query: Query<AuditQuery>,
) -> PageResult {
    let project = visit.project(&path, Command::ListProjectAudit).await?;
    page(&visit, Some(project), &query).await
}

/// `GET /audit/export` and `GET /p/{project}/audit/export`: all matching entries, in the format of
/// the admin API.
pub(crate) async fn export(
    visit: Visit,
    request: HttpRequest,
    query: Query<AuditQuery>,
) -> Result<HttpResponse, Refusal> {
    let manage = &visit.console.manage;
    let project = match request.match_info().get("project") {
        Some(id) => Some(visit.project(id, Command::ExportProjectAudit).await?.id),
        None => {
            manage.control.admit(&visit.by, Command::ExportAudit, None)?;
            None
        }
    };
    let (log, filter) = (manage.audit_log.clone(), query.filter(project)?);
    let lines = AuditLine::export(log, visit.by.clone(), filter, None).await?;
    Ok(download("audit.ndjson", "application/x-ndjson", lines))
}

async fn page(visit: &Visit, project: Option<Project>, query: &AuditQuery) -> PageResult {
    let filter = query.filter(project.as_ref().map(|project| project.id))?;
    let log = &visit.console.manage.audit_log;
    let entries = log.page(&visit.by, filter, query.after(), LINES).await?;
    let names = AuditNames::of(visit, project.as_ref(), &entries).await?;
    let actors = actors(visit, query, &entries).await?;
    let next = entries.last().filter(|_| entries.len() == LINES as usize);
    let rows = html! { @for entry in &entries { (row(visit, entry, &names)) } };
    let content = html! {
        (filters(visit, query, &actors))
        @if entries.is_empty() {
            section.empty { p { (if query.is_filtered() { texts::NONE_WANTED } else { texts::EMPTY }) } }
        } @else {
            (table(texts::TITLE, Some("cards brief audit"), &texts::HEADS, &rows))
        }
        p.more {
            @if let Some(last) = next { a.button href=(query.older(last)) { (common::OLDER) } " " }
            a.button href=(query.export(&visit.path)) title=(texts::EXPORT_HINT) download { (texts::EXPORT) }
        }
    };
    let frame = Frame::new(visit, texts::TITLE, texts::LEAD).of(project.as_ref());
    frame.show(&content)
}

/// The actors to choose from: those whom the operator may list, and the chosen one.
async fn actors(
    visit: &Visit,
    query: &AuditQuery,
    entries: &[AuditEntry],
) -> Result<Vec<(String, String)>, Refusal> {
    let mut actors = vec![(ActorFilter::CommandLine.to_string(), texts::COMMAND_LINE.to_owned())];
    if visit.by.may(Command::ListOperators, None) {
        let operators = visit.console.manage.operators.list(&visit.by).await?;
        actors.extend(operators.iter().map(|it| (it.id.to_string(), it.name.to_string())));
    }
    if visit.by.may(Command::ListTokens, None) {
        let tokens = visit.console.manage.tokens.list(&visit.by).await?;
        let token = |id, name| (id, Actor::Token { id, name });
        let tokens = tokens.into_iter().map(|it| token(it.id, it.name));
        actors.extend(tokens.map(|(id, actor)| (id.to_string(), actor.to_string())));
    }
    if !query.actor.is_empty() && !actors.iter().any(|(id, _)| *id == query.actor) {
        let name = entries.first().map_or_else(|| query.actor.clone(), |it| it.actor.to_string());
        actors.push((query.actor.clone(), name));
    }
    Ok(actors)
}

fn filters(visit: &Visit, query: &AuditQuery, actors: &[(String, String)]) -> Markup {
    let field = |name, label, value| Field { name, label, value, kind: "date", ..Field::TEXT };
    let actors = actors.iter().map(|(id, name)| (id.as_str(), name.as_str()));
    let actions = Action::ALL.map(|action| (action.as_str(), texts::did(action)));
    html! {
        form.filters method="get" action=(visit.path) aria-label=(common::FILTERS) {
            (field("actor", texts::HEADS[1], &query.actor).select(once(("", texts::ANYBODY)).chain(actors)))
            (field("action", texts::HEADS[2], &query.action).select(once(("", texts::ANYTHING)).chain(actions)))
            (field("from", common::FIRST_DAY, &query.from).show()) (field("until", common::LAST_DAY, &query.until).show())
            button.plain type="submit" { (common::APPLY) }
            @if query.is_filtered() { a.button href=(visit.path) { (texts::CLEAR) } }
        }
    }
}

fn row(visit: &Visit, entry: &AuditEntry, names: &AuditNames) -> Markup {
    let of_actor = format!("{}?actor={}", visit.path, ActorFilter::from(&entry.actor));
    html! {
        tr {
            td data-label=(texts::HEADS[0]) { (moment(entry.at)) }
            td data-label=(texts::HEADS[1]) {
                a.plain-link href=(of_actor) { (entry.actor) }
                @if let Some(from) = entry.from { br; small { (from) } }
            }
            td.outcome { span title=(entry.action) { (texts::did(entry.action)) } }
            td data-label=(texts::HEADS[3]) { (names.target(entry)) }
            td.change data-label=(texts::HEADS[4]) { (change(entry, names)) }
        }
    }
}

/// The values before and after the change, one line per fact.
fn change(entry: &AuditEntry, names: &AuditNames) -> Markup {
    let (before, after) = (facts(entry.before.as_deref()), facts(entry.after.as_deref()));
    let value =
        |facts: &Facts, name| names.named(facts.get(name).map_or(texts::NOTHING, String::as_str));
    let label = |name: &str| texts::fact(name.trim_end_matches(PAISE));
    let all: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    if all.is_empty() {
        return html! {};
    }
    html! {
        table.facts-table {
            thead { tr { td {} @for head in texts::BEFORE_AND_AFTER { th scope="col" { (head) } } } }
            tbody {
                @for name in all {
                    tr {
                        th scope="row" { (label(name)) }
                        td { (value(&before, name)) }
                        td { strong { (value(&after, name)) } }
                    }
                }
            }
        }
    }
}

type Facts = BTreeMap<String, String>;

/// The suffix of names of amounts.
const PAISE: &str = "_paise";

/// The members of a JSON object, as text.
fn facts(json: Option<&str>) -> Facts {
    let read: Option<BTreeMap<String, Value>> = json.and_then(|it| serde_json::from_str(it).ok());
    let text = |(name, value): (String, Value)| {
        let amount = value.as_i64().filter(|_| name.ends_with(PAISE));
        let text = match (amount, value) {
            (Some(amount), _) => rupees(Paise(amount)),
            (_, Value::String(text)) => read_instant(&text).map_or(text, plain_moment),
            (_, Value::Bool(on)) => if on { common::ON } else { common::OFF }.to_owned(),
            (_, Value::Null) => texts::NOTHING.to_owned(),
            (_, other) => other.to_string(),
        };
        (name, text)
    };
    read.unwrap_or_default().into_iter().map(text).collect()
}
