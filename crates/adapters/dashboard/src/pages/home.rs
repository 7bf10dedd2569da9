use super::parts::pill;
use super::reply::Reply;
use crate::address::{PageAddress, is_local, query};
use crate::answer::{PageResult, go, go_with};
use crate::form::Field;
use crate::format::{capital, grouped, rupees, share, time};
use crate::language::Language;
use crate::layout::{Frame, csrf, initial};
use crate::mode;
use crate::navigation::first_page;
use crate::refusal::Refusal;
use crate::texts::{common, new_project as new_texts, projects as texts};
use crate::theme::Theme;
use crate::visit::{EmptyForm, PublicForm, SignedInForm, Visit};
use actix_web::HttpRequest;
use actix_web::web::Query;
use dwar_activity::Traffic;
use dwar_console::explain::Tone;
use dwar_kernel::{KeyMode, ProjectId, Severity};
use dwar_operator::Command;
use dwar_project::Project;
use dwar_wallet::Balance;
use maud::{Markup, html};
use serde::Deserialize;

/// `GET /`: the only active project, or the list of projects. After a first start, with `?start`,
/// the playground.
pub(crate) async fn home(visit: Visit, request: HttpRequest) -> PageResult {
    let starts = request.query_string() == "start";
    inside(&visit, &request, starts).await
}

/// `GET /playground`: that of the only active project, or the list of projects.
pub(crate) async fn playground(visit: Visit, request: HttpRequest) -> PageResult {
    inside(&visit, &request, true).await
}

/// Redirects to the first page of the only active project, or to its playground.
async fn inside(visit: &Visit, request: &HttpRequest, plays: bool) -> PageResult {
    let mut projects = visit.projects().await?;
    projects.retain(|project| project.archived_at.is_none());
    let only = projects.first().filter(|_| projects.len() == 1);
    let Some(project) = only else { return Ok(go("/projects")) };
    if !plays || !visit.may(project, Command::Play) {
        return Ok(go(first_page(visit, project).as_deref().unwrap_or("/projects")));
    }
    // The playground works in test mode, so the other pages show it too.
    let tls = visit.console.names.tls;
    let cookie = mode::chosen(request).is_none().then(|| mode::cookie(KeyMode::Test, tls));
    Ok(go_with(&format!("/p/{}/playground", project.id), cookie))
}

const SHOWN: usize = 60;
/// With more projects than this, a search by name is easier than a list.
const FEW: usize = 12;
/// An id is recognised by this many first characters, as on the command line.
const ID_FROM: usize = 4;

#[derive(Default, Deserialize)]
pub(crate) struct HomeQuery {
    /// Part of the name in any case, or the start of the id.
    #[serde(default)]
    name: String,
    after: Option<String>,
    /// With any value archived projects, otherwise active ones.
    archived: Option<String>,
}

impl HomeQuery {
    /// The projects of a page, and whether there are more.
    fn page(&self, mut projects: Vec<Project>) -> (Vec<Project>, bool) {
        let name = self.name.trim().to_lowercase();
        let is_id = |id: ProjectId| name.len() >= ID_FROM && id.to_string().starts_with(&name);
        let is_wanted = |it: &Project| it.name.to_lowercase().contains(&name) || is_id(it.id);
        projects.retain(is_wanted);
        let last = self.after.as_ref().and_then(|id| id.parse::<ProjectId>().ok());
        let is_last = |id| projects.iter().position(|it| it.id == id);
        let seen = last.and_then(is_last).map_or(0, |last| last + 1);
        projects.drain(..seen);
        let more = projects.len() > SHOWN;
        projects.truncate(SHOWN);
        (projects, more)
    }
}

pub(crate) async fn projects(visit: Visit, query: Query<HomeQuery>) -> PageResult {
    page(&visit, &query, Reply::none()).await
}

/// The list, with the form for a new project.
pub(crate) async fn page(visit: &Visit, query: &HomeQuery, reply: Reply) -> PageResult {
    let (archived, in_use): (Vec<_>, Vec<_>) =
        visit.projects().await?.into_iter().partition(|project| project.archived_at.is_some());
    let counts = [in_use.len(), archived.len()];
    let all = if query.archived.is_some() { archived } else { in_use };
    let many = all.len() > FEW;
    let none_yet = counts == [0, 0];
    let (projects, more) = query.page(all);
    let shown: Vec<_> = projects.iter().map(|project| project.id).collect();
    let manage = &visit.console.manage;
    let balances = manage.wallets.balances(&visit.by, shown.clone()).await?;
    let traffic = manage.figures.traffic(&visit.by, shown).await?;
    let content = html! {
        (reply.above)
        div.projects-head {
            @if counts[1] > 0 { (query.segments(counts)) }
            @if !none_yet { (new_form(visit)) }
        }
        @if many { (query.search()) }
        @if none_yet {
            section.empty {
                @if visit.by.may(Command::CreateProject, None) {
                    p { (texts::EMPTY) }
                    (new_form(visit))
                } @else {
                    p { (texts::NO_ACCESS) }
                }
            }
        } @else if projects.is_empty() {
            section.empty { p { (if many { texts::NONE_SO_CALLED } else { texts::NONE_HERE }) } }
        }
        ul.tiles {
            @for project in &projects {
                (tile(visit, project, balances.get(&project.id), traffic.get(&project.id)))
            }
        }
        @if let Some(last) = projects.last().filter(|_| more) {
            p.more { a.button href=(query.rest(last)) { (texts::MORE) } }
        }
    };
    Frame::new(visit, texts::TITLE, texts::LEAD).answer(reply.status, &content)
}

/// The form for a new project, for operators who may create one.
fn new_form(visit: &Visit) -> Markup {
    let form = visit.form("new", true);
    let name = Field {
        name: "name",
        label: common::NAME,
        hint: new_texts::NAME_HINT,
        placeholder: new_texts::NAME_EXAMPLE,
        required: true,
        ..Field::TEXT
    };
    html! {
        @if visit.by.may(Command::CreateProject, None) {
            details.new-project open[form.is_refused()] {
                summary.button.primary { (new_texts::NEW) }
                form.card.stack method="post" action="/projects" {
                    (csrf(visit))
                    (form.field(&name))
                    div { button.primary type="submit" { (new_texts::CREATE) } }
                }
            }
        }
    }
}

fn tile(
    visit: &Visit,
    project: &Project,
    balance: Option<&Balance>,
    traffic: Option<&Traffic>,
) -> Markup {
    let page = first_page(visit, project).unwrap_or_else(|| "/projects".to_owned());
    html! {
        li {
            a.tile href=(page) {
                span.tile-name {
                    span.avatar aria-hidden="true" { (initial(&project.name)) }
                    strong { (project.name) }
                    (state(visit, project))
                }
                @if let Some(balance) = balance {
                    span.figure { (rupees(balance.available())) " " small { (texts::AVAILABLE) } }
                }
                @if visit.may(project, Command::ShowFigures) { span { (sent(traffic)) } }
                @match project.archived_at {
                    Some(at) => span.muted { (texts::ARCHIVED_AT) " " (time(at)) },
                    None => span.muted { (common::CREATED) " " (time(project.created_at)) },
                }
            }
        }
    }
}

/// Settings that cannot work, or else the most urgent of the project's own alerts.
fn state(visit: &Visit, project: &Project) -> Markup {
    let manage = &visit.console.manage;
    if manage.projects.is_unfit(&visit.by, project) {
        return pill((Tone::Bad, texts::UNFIT));
    }
    let alerts = manage.alerts.of_page(&visit.by, Some(project));
    let own = alerts.iter().map(|it| (it.project, it.kind)).find(|(of, _)| of.is_some());
    html! {
        @if let Some((_, kind)) = own {
            @let tone = if kind.severity() == Severity::Page { Tone::Bad } else { Tone::Warn };
            (pill((tone, &capital(&kind.as_str().replace('_', " ")))))
        }
    }
}

/// Sends with the live key in a day, and the share of verified ones.
fn sent(traffic: Option<&Traffic>) -> Markup {
    let Some(traffic) = traffic.filter(|it| it.requests > 0) else {
        return html! { (texts::NO_TRAFFIC) };
    };
    let verified = traffic.conversion();
    html! {
        (grouped(traffic.requests)) " " (texts::SENDS)
        @if verified.whole > 0 { ", " (share(verified)) " " (texts::VERIFIED) }
    }
}

impl HomeQuery {
    fn segments(&self, [in_use, archived]: [usize; 2]) -> Markup {
        let is_archived = self.archived.is_some();
        let current = |wanted| (is_archived == wanted).then_some("true");
        html! {
            nav.segments aria-label=(texts::WHICH) {
                a href="/projects" aria-current=[current(false)] { (texts::IN_USE) " (" (in_use) ")" }
                a href="/projects?archived=yes" aria-current=[current(true)] {
                    (texts::ARCHIVED) " (" (archived) ")"
                }
            }
        }
    }

    /// The address of the projects after `last`.
    fn rest(&self, last: &Project) -> String {
        let (after, archived) = (last.id.to_string(), self.archived.as_ref().map_or("", |_| "yes"));
        format!(
            "?{}",
            query([("name", self.name.as_str()), ("after", &after), ("archived", archived)])
        )
    }

    fn search(&self) -> Markup {
        let (value, kind) = (self.name.as_str(), "search");
        let find =
            Field { id: "find", name: "name", label: texts::NAME, value, kind, ..Field::TEXT };
        html! {
            form.card method="get" action="/projects" {
                @if let Some(archived) = &self.archived {
                    input type="hidden" name="archived" value=(archived);
                }
                div.row {
                    (find.show())
                    button.primary type="submit" { (texts::FIND) }
                }
            }
        }
    }
}

/// `POST /theme`: light, dark, or the system's setting.
pub(crate) async fn theme(
    request: HttpRequest,
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
) -> PageResult {
    let theme = visit.typed.get("theme").and_then(Theme::from_word).unwrap_or(Theme::System);
    let cookie = theme.cookie(visit.console.names.tls);
    Ok(go_with(&back(&request, &visit), [cookie]))
}

/// `POST /mode`: live or test, on every page.
pub(crate) async fn mode(
    request: HttpRequest,
    SignedInForm { visit, .. }: SignedInForm<EmptyForm>,
) -> PageResult {
    let mode = visit.typed.get("mode").and_then(KeyMode::from_word).ok_or(Refusal::Unreadable)?;
    let cookie = mode::cookie(mode, visit.console.names.tls);
    Ok(go_with(&back(&request, &visit), [cookie]))
}

/// The page that a form returns to.
fn back(request: &HttpRequest, visit: &Visit) -> String {
    let back = PageAddress::read(request, visit.typed.get("back").unwrap_or_default());
    PageAddress::or_home(back.as_ref()).to_owned()
}

#[derive(Deserialize)]
pub(crate) struct LanguageForm {
    language: String,
    back: String,
}

/// `POST /language`: also without a session, for the sign-in page.
pub(crate) async fn language(posted: PublicForm<LanguageForm>) -> PageResult {
    let (console, LanguageForm { language, back }) = (posted.console, posted.form);
    let language = Language::from_word(&language).ok_or(Refusal::Unreadable)?;
    let cookie = language.cookie(console.names.tls);
    Ok(go_with(if is_local(&back) { &back } else { "/" }, [cookie]))
}
