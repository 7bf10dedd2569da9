use super::parts::{heads, titled_table};
use crate::address::query;
use crate::form::Field;
use crate::format::{clock, exact, rupees, signed_rupees, time};
use crate::refusal::Refusal;
use crate::texts::{common, wallet as words, wallet_statement as texts};
use crate::visit::Visit;
use actix_web::HttpResponse;
use actix_web::web::{Path, Query};
use chrono::{Days, NaiveDate};
use dwar_console::GroupedPage;
use dwar_kernel::{Timestamp, read_instant};
use dwar_operator::Command;
use dwar_project::Project;
use dwar_wallet::{
    EntryKind, GroupedLine, LedgerEntry, Paise, StatementCursor, StatementFilter, StatementLine,
};
use dwar_wire::csv_download;
use maud::{Markup, html};
use serde::Deserialize;
use std::iter::once;

const LINES: usize = 50;

/// The filter of the lines, from the address. Empty fields match everything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct StatementQuery {
    /// The first and the last day in Indian time, or exact instants.
    from: String,
    until: String,
    kind: String,
    reference: String,
    at: String,
    position: String,
}

impl StatementQuery {
    fn filter(&self) -> Result<StatementFilter, Refusal> {
        let kind = match self.kind.trim() {
            "" => None,
            word => Some(EntryKind::from_word(word).ok_or(Refusal::Unreadable)?),
        };
        let reference = Some(self.reference.trim()).filter(|text| !text.is_empty());
        let reference = reference.map(str::parse).transpose().map_err(|_| Refusal::Unreadable)?;
        Ok(StatementFilter {
            kind,
            since: instant(&self.from, 0)?,
            until: instant(&self.until, 1)?,
            reference,
        })
    }

    fn after(&self) -> Result<Option<StatementCursor>, Refusal> {
        if self.at.is_empty() {
            return Ok(None);
        }
        let at = read_instant(&self.at).ok_or(Refusal::Unreadable)?;
        let position = self.position.parse().map_err(|_| Refusal::Unreadable)?;
        Ok(Some(StatementCursor { at, position }))
    }

    fn query(&self) -> String {
        let Self { from, until, kind, reference, .. } = self;
        query([("from", from), ("until", until), ("kind", kind), ("reference", reference)])
    }
}

/// Parses a day, a minute in Indian time (UTC+05:30, all year), or an exact instant. Of a day, returns the
/// first moment in India, `days` days later.
pub(crate) fn instant(text: &str, days: u64) -> Result<Option<Timestamp>, Refusal> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let minute = read_instant(&format!("{text}:00+05:30"));
    if let Some(instant) = read_instant(text).or(minute) {
        return Ok(Some(instant));
    }
    let day: NaiveDate = text.parse().map_err(|_| Refusal::Unreadable)?;
    let day = day.checked_add_days(Days::new(days)).ok_or(Refusal::Unreadable)?;
    let midnight = read_instant(&format!("{day}T00:00:00+05:30"));
    midnight.map(Some).ok_or(Refusal::Unreadable)
}

pub(crate) async fn section(
    visit: &Visit,
    project: &Project,
    wanted: &StatementQuery,
) -> Result<Markup, Refusal> {
    let (filter, after) = (wanted.filter()?, wanted.after()?);
    let everything = filter == StatementFilter::default() && after.is_none();
    let ledger = &visit.console.manage.ledger;
    let page = ledger.grouped_lines(&visit.by, project.id, filter, after, LINES).await?;
    let GroupedPage { lines, next } = page;
    let query = wanted.query();
    Ok(html! {
        (filters(project, wanted))
        @if lines.is_empty() {
            section.empty { p { @if next.is_some() { (texts::FURTHER) } @else if everything { (words::EMPTY) } @else { (texts::NOTHING) } } }
        } @else {
            (table(visit, project, &lines))
        }
        p.more {
            @if let Some(StatementCursor { at, position }) = next {
                a.button href={ "?" (query) @if !query.is_empty() { "&" } "at=" (exact(at)) "&position=" (position) } {
                    (common::OLDER)
                }
            }
            a.button href={ "/p/" (project.id) "/wallet/statement.csv?" (query) } download { (common::DOWNLOAD) }
        }
    })
}

fn filters(project: &Project, wanted: &StatementQuery) -> Markup {
    let field = |name, label, value| Field { name, label, value, ..Field::TEXT };
    let day = |name, label, value| Field { kind: "date", ..field(name, label, value) }.show();
    let kinds = EntryKind::ALL.map(|kind| (kind.as_str(), words::kind(kind)));
    let kinds = once(("", texts::EVERY_KIND)).chain(kinds);
    let reference = field("reference", texts::REFERENCE, &wanted.reference);
    html! {
        form.card method="get" action={ "/p/" (project.id) "/wallet" } {
            div.row {
                (day("from", common::FIRST_DAY, &wanted.from)) (day("until", common::LAST_DAY, &wanted.until))
                (field("kind", common::KIND, &wanted.kind).select(kinds))
                (Field { id: "wanted-reference", ..reference }.show())
                button.plain type="submit" { (common::APPLY) }
            }
            p.hint { (texts::DAYS) }
        }
    }
}

fn table(visit: &Visit, project: &Project, lines: &[GroupedLine]) -> Markup {
    let may_open_request = visit.may(project, Command::ShowRequest);
    let amounts = [words::CHANGE, words::RESERVED, words::AFTER];
    let heads = heads(&[common::TIME, common::KIND, words::FOR], &amounts);
    let rows = html! {
        @for GroupedLine { line: StatementLine { entry, closing, .. }, steps } in lines { tr {
            td data-label=(common::TIME) { (time(entry.at)) }
            td.outcome { (what(entry, steps)) }
            td.wrap-anywhere data-label=(words::FOR) {
                @if may_open_request && is_of_a_send(entry.kind) {
                    a href={ "/p/" (project.id) "/activity/" (entry.reference) } { (entry.reference) }
                } @else { (entry.reference) }
                @if entry.relayed { " " span.muted { (words::RELAY) } }
                @if let Some(closing) = closing {
                    " " span.muted { (texts::stands_for(closing.closed.entries)) }
                }
            }
            td.amount.beside data-label=(words::CHANGE) { (movement(entry.amount)) }
            td.amount.named data-label=(words::RESERVED) { (movement(reserved(entry, steps))) }
            td.amount.named data-label=(words::AFTER) { (rupees(entry.after.balance)) }
        } }
    };
    titled_table(words::STATEMENT, "cards brief statement", &heads, &rows)
}

/// Renders the name of an entry. If the line groups the entries of a send, the name opens the list of them.
fn what(entry: &LedgerEntry, steps: &[LedgerEntry]) -> Markup {
    let name = match entry.kind {
        EntryKind::Release if !steps.is_empty() => words::NOT_CHARGED,
        kind => words::kind(kind),
    };
    html! {
        @if steps.is_empty() { (name) } @else {
            details.steps {
                summary { (name) }
                ul { @for step in steps {
                    li { (words::kind(step.kind)) " " (rupees(size(step))) ", " (clock(step.at)) }
                } }
            }
        }
    }
}

/// The amount that an entry of a send reserves or releases, without the sign.
const fn size(step: &LedgerEntry) -> Paise {
    Paise(if step.held.0 < 0 { -step.held.0 } else { step.held.0 })
}

/// The change of the reserved amount that a line shows. A line that groups the entries of a send shows their
/// sum, which is zero once the send has ended.
fn reserved(entry: &LedgerEntry, steps: &[LedgerEntry]) -> Paise {
    match steps {
        [] => entry.held,
        steps => Paise(steps.iter().map(|step| step.held.0).sum()),
    }
}

/// Tells whether the reference is the id of a request, whose records can be shown.
const fn is_of_a_send(kind: EntryKind) -> bool {
    match kind {
        EntryKind::Hold | EntryKind::Capture | EntryKind::Release | EntryKind::Refund => true,
        EntryKind::Credit | EntryKind::Adjustment | EntryKind::Closed => false,
    }
}

fn movement(amount: Paise) -> Markup {
    html! {
        @if amount > Paise::ZERO { span.plus { (signed_rupees(amount)) } }
        @else if amount < Paise::ZERO { (signed_rupees(amount)) }
        @else { span.muted { "–" } }
    }
}

/// `GET /p/{project}/wallet/statement.csv`: every matching line, newest first.
pub(crate) async fn download(
    visit: Visit,
    path: Path<String>,
    wanted: Query<StatementQuery>,
) -> Result<HttpResponse, Refusal> {
    let project = visit.project(&path, Command::DownloadStatement).await?;
    let ledger = visit.console.manage.ledger.clone();
    let lines = ledger.csv(visit.by.clone(), project.id, wanted.filter()?).await?;
    Ok(csv_download(&format!("statement-{}.csv", project.id), lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_day_in_india_with_both_ends() {
        let at = |text: &str, days| instant(text, days).unwrap().unwrap().to_rfc3339();
        assert_eq!(at("2027-01-15", 0), "2027-01-14T18:30:00+00:00");
        assert_eq!(at("2027-01-15", 1), "2027-01-15T18:30:00+00:00");
        assert_eq!(at("2027-01-15T08:00:00Z", 1), "2027-01-15T08:00:00+00:00");
        assert_eq!(instant(" ", 0).unwrap(), None);
        for text in [
            "2027-02-30",
            "yesterday",
            "15/01/2027",
            "-262143-01-01",
            "+12027-01-01",
            "+12027-01-01T00:00:00Z",
        ] {
            assert!(matches!(instant(text, 0), Err(Refusal::Unreadable)), "{text}");
        }
    }
}
