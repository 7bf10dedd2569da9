use super::parts::heads;
use crate::answer::{self, PageResult};
use crate::assets;
use crate::format::moment;
use crate::layout::{Frame, csrf};
use crate::texts::{common, inbox as texts, nav};
use crate::visit::{SignedInForm, Visit};
use actix_web::web::{Path, Query};
use dwar_console::{InboxLine, InboxPage, explain};
use dwar_kernel::{KeyMode, ProjectId};
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

/// The search text may be a number, so it is in a body and not in an address: addresses end up in
/// histories and logs.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct SearchForm {
    wanted: String,
    /// The page of the messages, counted from 1; the first one without a number or with an invalid
    /// one.
    page: String,
}

pub(crate) async fn show(visit: Visit, path: Path<String>, form: Query<SearchForm>) -> PageResult {
    inbox(&visit, &path, "", &form.page).await
}

/// `POST /p/{project}/inbox`: the messages that match.
pub(crate) async fn search(posted: SignedInForm<SearchForm>, path: Path<String>) -> PageResult {
    inbox(&posted.visit, &path, &posted.form.wanted, &posted.form.page).await
}

/// `GET /p/{project}/inbox/live`: an event whenever messages change.
pub(crate) async fn live(visit: Visit, path: Path<String>) -> PageResult {
    let project = visit.project(&path, Command::Play).await?;
    let watcher = (visit.present.operator.id, visit.token().to_owned());
    Ok(answer::events(visit.console.live.messages(watcher, project.id)?))
}

async fn inbox(visit: &Visit, project: &str, wanted: &str, page: &str) -> PageResult {
    let project = visit.project(project, Command::Play).await?;
    let number = page.parse::<u32>().map_or(1, |page| page.max(1));
    let found = visit.console.manage.inbox.list(&visit.by, project.id, wanted, number - 1).await?;
    let content = html! {
        div.stack.inbox {
            (search_form(visit, &project, wanted))
            (messages(&project, &found, wanted, number))
        }
    };
    let frame =
        Frame::new(visit, texts::TITLE, texts::LEAD).of(&project).with([assets::INBOX.path()]);
    frame.in_mode(KeyMode::Test, "overview").show(&content)
}

fn search_form(visit: &Visit, project: &Project, wanted: &str) -> Markup {
    html! {
        form #search.row method="post" action={ "/p/" (project.id) "/inbox" } role="search" {
            (csrf(visit))
            div.field {
                label for="wanted" { (texts::SEARCH) }
                input #wanted name="wanted" type="search" autocomplete="off" maxlength="100"
                    value=(wanted) placeholder=(texts::PLACEHOLDER) aria-describedby="wanted-hint";
            }
            button.primary type="submit" { (texts::SEARCH) }
            @if !wanted.is_empty() {
                a.button href={ "/p/" (project.id) "/inbox" } { (texts::CLEAR) }
            }
        }
        p #wanted-hint.hint { (texts::SEARCH_HINT) }
    }
}

/// The part of the page that the script reloads after a change.
fn messages(project: &Project, found: &InboxPage, wanted: &str, number: u32) -> Markup {
    let is_empty = found.lines.is_empty();
    html! {
        section #messages data-live={ "/p/" (project.id) "/inbox/live" } data-number=(number)
            data-going=(common::LIVE_UPDATES) data-offline=(common::OFFLINE)
            data-over=(nav::OVER) data-replaced=(nav::REPLACED) {
            div.live-bar #live-bar hidden {
                span.live-dot aria-hidden="true" {}
                span #live-status role="status" { (common::LIVE_UPDATES) }
            }
            div.empty #nothing hidden[!is_empty] {
                @if wanted.trim().is_empty() {
                    p { (texts::EMPTY) }
                    a.button href={ "/p/" (project.id) "/playground" } { (common::TO_PLAYGROUND) }
                } @else {
                    p { (texts::NONE_WANTED) }
                }
            }
            div.table #list hidden[is_empty] tabindex="0" role="region" aria-label=(texts::MESSAGES) {
                table.cards.brief {
                    thead { tr { (heads(&[common::TIME, texts::PHONE, texts::TEXT, common::CHANNEL], &[])) } }
                    tbody #rows { @for line in &found.lines { (row(project.id, line)) } }
                }
            }
            (further(project, found, wanted, number))
        }
    }
}

fn row(project: ProjectId, line: &InboxLine) -> Markup {
    html! {
        tr id={ "m-" (line.otp) "-" (line.channel) } {
            td data-label=(common::TIME) {
                a href={ "/p/" (project) "/activity/" (line.otp) } { (moment(line.at)) }
            }
            td.number-of data-label=(texts::PHONE) {
                @match &line.phone {
                    Some(phone) => (phone.e164()),
                    None => span.muted { (common::UNREADABLE) },
                }
            }
            td.outcome.whole.message {
                @match &line.text {
                    Some(text) => (text),
                    None => span.muted { (common::UNREADABLE) },
                }
            }
            td data-label=(common::CHANNEL) { (explain::channel(line.channel)) }
        }
    }
}

/// Links to the neighbouring pages. The search text is in no address, so with one the links are
/// forms.
fn further(project: &Project, found: &InboxPage, wanted: &str, number: u32) -> Markup {
    let button = |page: u32, label: &str| {
        html! {
            @if wanted.trim().is_empty() {
                a.button href={ "/p/" (project.id) "/inbox?page=" (page) } { (label) }
            } @else { button.plain form="search" name="page" value=(page) { (label) } }
        }
    };
    html! {
        nav.row.further #further aria-label=(texts::PAGES) hidden[number == 1 && !found.has_older] {
            @if number > 1 { (button(number - 1, texts::NEWER)) }
            @if found.has_older { (button(number + 1, texts::OLDER)) }
        }
    }
}
