use super::go;
use crate::address::{PageAddress, is_local};
use crate::console::Console;
use crate::format::{rupees, time};
use crate::language::Language;
use crate::layout::{Frame, Page, first_page};
use crate::mode;
use crate::refusal::Refusal;
use crate::texts::projects as texts;
use crate::visit::{Open, Posted, Theme, Visit};
use actix_web::HttpRequest;
use actix_web::web::{Data, Query};
use dwar_kernel::{KeyMode, ProjectId};
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};
use serde::Deserialize;

/// `GET /`: the only project, or the list of them. On a first start, with `?start`, the playground,
/// where there is something to do.
pub(crate) async fn home(visit: Visit, request: HttpRequest) -> Page {
    let projects = visit.projects().await?;
    let only = projects.first().filter(|_| projects.len() == 1);
    let starts = request.query_string() == "start";
    let Some(project) = only else { return Ok(go("/projects")) };
    if !starts || !visit.may(project, Command::Play) {
        return Ok(go(first_page(&visit, project).as_deref().unwrap_or("/projects")));
    }
    let mut answer = go(&format!("/p/{}/playground", project.id));
    if mode::chosen(&request).is_none() {
        // What is done there is in test mode, and the other pages show it.
        let cookie = mode::cookie(KeyMode::Test, &visit.console);
        answer.add_cookie(&cookie).map_err(|_| Refusal::Failed)?;
    }
    Ok(answer)
}

/// So many projects are on one page.
const SHOWN: usize = 60;

/// Which projects are wanted.
#[derive(Deserialize)]
pub(crate) struct HomeQuery {
    /// What the name has in it, however it is written.
    #[serde(default)]
    name: String,
    /// Those that come after this one.
    after: Option<String>,
}

impl HomeQuery {
    /// Those of a page, and whether there are more.
    fn page(&self, mut projects: Vec<Project>) -> (Vec<Project>, bool) {
        let name = self.name.trim().to_lowercase();
        projects.retain(|project| project.name.to_lowercase().contains(&name));
        let last = self.after.as_ref().and_then(|id| id.parse::<ProjectId>().ok());
        let is_last = |id| projects.iter().position(|it| it.id == id);
        let seen = last.and_then(is_last).map_or(0, |last| last + 1);
        projects.drain(..seen);
        let more = projects.len() > SHOWN;
        projects.truncate(SHOWN);
        (projects, more)
    }
}

/// `GET /projects`.
pub(crate) async fn projects(visit: Visit, query: Query<HomeQuery>) -> Page {
    let all = visit.projects().await?;
    let many = all.len() > SHOWN;
    let (projects, more) = query.page(all);
    let shown = projects.iter().map(|project| project.id).collect();
    let balances = visit.console.manage.wallets.balances(&visit.by, shown).await?;
    let card = |project: Project| {
        let available = balances.get(&project.id).map(|it| it.available());
        let page = first_page(&visit, &project).unwrap_or_else(|| "/projects".to_owned());
        (project, available, page)
    };
    let cards: Vec<_> = projects.into_iter().map(card).collect();
    let content = html! {
        @if many { (search(&query.name)) }
        @if cards.is_empty() && many {
            section.empty { p { (texts::NONE_SO_CALLED) } }
        } @else if cards.is_empty() {
            section.empty { p { (texts::EMPTY) } pre { code { (texts::COMMAND) } } }
        }
        ul.tiles {
            @for (project, available, page) in &cards {
                li {
                    a.tile href=(page) {
                        strong { (project.name) }
                        @if let Some(available) = available {
                            span.figure { (rupees(*available)) " " small { (texts::AVAILABLE) } }
                        }
                        span.muted { (texts::MADE) " " (time(project.created_at)) }
                    }
                }
            }
        }
        @if let Some((last, ..)) = cards.last().filter(|_| more) {
            p.more { a.button href=(rest(&query.name, last)) { (texts::MORE) } }
        }
    };
    let frame = Frame::new(&visit, texts::TITLE, texts::LEAD);
    frame.show(&content)
}

/// Where the projects after `last` are.
fn rest(name: &str, last: &Project) -> String {
    let mut query = form_urlencoded::Serializer::new(String::from("?"));
    query.append_pair("name", name).append_pair("after", &last.id.to_string()).finish()
}

fn search(name: &str) -> Markup {
    html! {
        form.card method="get" action="/projects" {
            div.row {
                div.field {
                    label for="name" { (texts::NAME) }
                    input #name name="name" type="search" value=(name) autocomplete="off";
                }
                button.primary type="submit" { (texts::FIND) }
            }
        }
    }
}

#[derive(Deserialize)]
pub(crate) struct ThemeForm {
    theme: String,
    back: String,
}

/// `POST /theme`: light, dark, or as the system has it.
pub(crate) async fn theme(request: HttpRequest, posted: Posted<ThemeForm>) -> Page {
    let Posted { visit, form } = posted;
    let back = PageAddress::read(&request, &form.back);
    let mut answer = go(PageAddress::or_home(back.as_ref()));
    let cookie = Theme::from_word(&form.theme).cookie(&visit.console);
    answer.add_cookie(&cookie).map_err(|_| Refusal::Failed)?;
    Ok(answer)
}

#[derive(Deserialize)]
pub(crate) struct ModeForm {
    mode: String,
    back: String,
}

/// `POST /mode`: live or test, on every page.
pub(crate) async fn mode(request: HttpRequest, posted: Posted<ModeForm>) -> Page {
    let Posted { visit, form } = posted;
    let mode = KeyMode::from_word(&form.mode).ok_or(Refusal::Unreadable)?;
    let back = PageAddress::read(&request, &form.back);
    let mut answer = go(PageAddress::or_home(back.as_ref()));
    answer.add_cookie(&mode::cookie(mode, &visit.console)).map_err(|_| Refusal::Failed)?;
    Ok(answer)
}

#[derive(Deserialize)]
pub(crate) struct LanguageForm {
    language: String,
    back: String,
}

/// `POST /language`: for strangers too, who choose it on the sign-in page.
pub(crate) async fn language(console: Data<Console>, form: Open<LanguageForm>) -> Page {
    let LanguageForm { language, back } = form.0;
    let language = Language::from_word(&language).ok_or(Refusal::Unreadable)?;
    let mut answer = go(if is_local(&back) { &back } else { "/" });
    answer.add_cookie(&language.cookie(&console)).map_err(|_| Refusal::Failed)?;
    Ok(answer)
}
