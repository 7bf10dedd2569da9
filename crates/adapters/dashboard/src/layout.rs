use crate::address::PageAddress;
use crate::assets;
use crate::format::time;
use crate::language::Language;
use crate::refusal::Refusal;
use crate::texts::{find, nav, settings_project as texts};
use crate::visit::{Theme, Visit};
use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use dwar_kernel::KeyMode;
use dwar_operator::Command;
use dwar_project::Project;
use maud::{DOCTYPE, Markup, html};

/// The media type of every page.
pub(crate) const HTML: &str = "text/html; charset=utf-8";

/// What a handler gives.
pub(crate) type Page = Result<HttpResponse, Refusal>;

/// A page of somebody who is signed in.
pub(crate) struct Frame<'a> {
    visit: &'a Visit,
    title: &'a str,
    /// One sentence under the title.
    lead: &'a str,
    /// Where we are, if that is within a project.
    project: Option<&'a Project>,
    /// A script beside the one that every page has.
    script: Option<String>,
    /// That of its texts.
    language: Language,
    /// What it shows, and where the switch of modes leads from it.
    mode: KeyMode,
    other_mode: Option<String>,
}

impl<'a> Frame<'a> {
    /// A page in English that belongs to no project and needs no script of its own.
    pub(crate) fn new(visit: &'a Visit, title: &'a str, lead: &'a str) -> Self {
        let (mode, language) = (visit.mode, Language::English);
        Self { visit, title, lead, project: None, script: None, language, mode, other_mode: None }
    }

    /// The same page within a project.
    pub(crate) fn of(self, project: impl Into<Option<&'a Project>>) -> Self {
        Self { project: project.into(), ..self }
    }

    /// The same page with a script of its own.
    pub(crate) fn with(self, script: impl Into<Option<String>>) -> Self {
        Self { script: script.into(), ..self }
    }

    /// The same page, about something of this mode; the other one begins at a page of its own.
    pub(crate) fn in_mode(self, mode: KeyMode, other: &str) -> Self {
        let other = self.project.map(|project| format!("/p/{}/{other}", project.id));
        Self { mode, other_mode: other, ..self }
    }

    /// The same page, whose texts are in this language.
    pub(crate) const fn in_language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// The answer with `content` in its frame.
    pub(crate) fn show(&self, content: &Markup) -> Page {
        self.answer(StatusCode::OK, content)
    }

    /// As [`Frame::show`], with this status.
    pub(crate) fn answer(&self, status: StatusCode, content: &Markup) -> Page {
        let page = html! {
            a.skip href="#content" { (nav::SKIP) }
            (self.side())
            main #content tabindex="-1" {
                header.head {
                    h1 { (self.title) }
                    @if self.is_testing() { " " span.pill.warn { (nav::TEST_MODE) } }
                    p.lead { (self.lead) }
                }
                @if let Some(project) = self.project { (archived(self.visit, project, self.language)) }
                (content)
            }
            (self.palette())
        };
        let extra = html! {
            meta name="csrf-token" content=(self.visit.csrf);
            @if let Some(script) = &self.script { script type="module" src=(script) {} }
        };
        let title = match self.project {
            Some(project) => format!("{} · {} · Dwar", self.title, project.name),
            None => format!("{} · Dwar", self.title),
        };
        let kind = if self.is_testing() { "framed testing" } else { "framed" };
        let kind = (self.visit.theme, self.language, kind);
        let text = document(&title, kind, &extra, &page).into_string();
        Ok(HttpResponse::build(status).content_type(HTML).body(text))
    }

    /// The navigation, in English on a page in another language.
    fn side(&self) -> Markup {
        let Self { visit, project, language, .. } = *self;
        let inside = project.map(|project| project_entries(visit, project)).unwrap_or_default();
        let outside = installation_entries(visit);
        let name = visit.present.operator.name.as_str();
        html! {
            header.side lang=[(language != Language::English).then_some("en")] {
                div.side-top {
                    a.brand href="/" { (mark()) span { "Dwar" } }
                    @if project.is_some() { (self.mode_switch()) }
                    a.find href=(self.find()) data-palette {
                    (icon("find")) span.find-label { (find::TITLE) } kbd { (find::KEYS) }
                }
                // A check box opens the navigation on narrow screens, without a script.
                    input #nav-open type="checkbox" aria-label=(nav::MENU);
                    label.menu-button for="nav-open" aria-hidden="true" { (icon("menu")) }
                }
                div.side-body {
                    @if let Some(project) = project {
                        a.project-chip href="/projects" title=(nav::SWITCH) {
                            span.avatar aria-hidden="true" { (initial(&project.name)) }
                            span.project-name { (project.name) }
                            (icon("swap"))
                        }
                        nav aria-label=(nav::OF_PROJECT) { (list(&visit.path, &inside)) }
                    }
                    nav.nav-outside aria-label=(nav::OF_INSTALLATION) { (list(&visit.path, &outside)) }
                    div.side-foot {
                        div.switches {
                            (theme_switch(visit))
                            (language_switch(visit.language, PageAddress::or_home(visit.page.as_ref())))
                        }
                        div.who {
                            a href="/account" title=(nav::ACCOUNT) {
                                span.avatar.round aria-hidden="true" { (initial(name)) }
                                span.project-name { (name) }
                            }
                            form method="post" action="/sign-out" {
                                (csrf(visit))
                                button.quiet type="submit" { (nav::SIGN_OUT) }
                            }
                        }
                    }
                }
            }
        }
    }

    const fn is_testing(&self) -> bool {
        self.project.is_some() && self.mode.is_test()
    }

    fn find(&self) -> String {
        self.project.map_or_else(|| "/find".to_owned(), |it| format!("/find?project={}", it.id))
    }

    /// The same as the page that the link leads to, without leaving this one.
    fn palette(&self) -> Markup {
        html! {
            dialog #palette.found aria-label=(find::TITLE)
                lang=[(self.language != Language::English).then_some("en")] {
                form method="post" action="/find" role="search" {
                    (csrf(self.visit))
                    @if let Some(project) = self.project { input type="hidden" name="project" value=(project.id); }
                    input type="hidden" name="mode" value=(self.mode);
                    input name="q" type="search" aria-label=(find::WHAT) placeholder=(find::WHAT)
                        autocomplete="off" spellcheck="false";
                }
                div #palette-found aria-live="polite" {}
            }
        }
    }

    fn mode_switch(&self) -> Markup {
        let back = match (&self.other_mode, &self.visit.page) {
            (Some(other), _) => other.clone(),
            (None, Some(page)) => page.for_any_mode(),
            (None, None) => "/".to_owned(),
        };
        html! {
            form.theme.mode method="post" action="/mode" {
                (csrf(self.visit))
                input type="hidden" name="back" value=(back);
                fieldset {
                    legend.hidden { (nav::MODE) }
                    @for mode in [KeyMode::Live, KeyMode::Test] {
                        button name="mode" value=(mode)
                            aria-pressed=(if mode == self.mode { "true" } else { "false" }) {
                            (nav::mode(mode))
                        }
                    }
                }
            }
        }
    }
}

/// What an archived project shows on each of its pages, in English on a page in another language.
fn archived(visit: &Visit, project: &Project, language: Language) -> Markup {
    html! {
        @if let Some(at) = project.archived_at {
            div.notice.warn.archived role="status" lang=[(language != Language::English).then_some("en")] {
                p { (texts::ARCHIVED) " " (time(at)) ". " (texts::REFUSED) }
                @if visit.may(project, Command::RestoreProject) {
                    form method="post" action={ "/p/" (project.id) "/settings/restore" } {
                        (csrf(visit))
                        button.plain type="submit" { (texts::RESTORE) }
                    }
                }
            }
        }
    }
}

/// The whole document.
fn document(
    title: &str,
    (theme, language, kind): (Theme, Language, &str),
    extra: &Markup,
    body: &Markup,
) -> Markup {
    html! {
        (DOCTYPE)
        html lang=(language.as_str()) data-theme=(theme.as_str()) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="robots" content="noindex";
                title { (title) }
                link rel="icon" type="image/svg+xml" href=(assets::icon());
                link rel="stylesheet" href=(assets::css());
                script type="module" src=(assets::script()) {}
                (extra)
            }
            body class=(kind) { (body) }
        }
    }
}

/// A page for somebody who is not signed in: a card in the middle.
pub(crate) fn card(title: &str, look: (Theme, Language), content: &Markup) -> Markup {
    let body = html! {
        main.card-page #content {
            div.brand.brand-large { (mark()) span { "Dwar" } }
            section.card { h1 { (title) } (content) }
        }
    };
    let kind = (look.0, look.1, "bare");
    document(&format!("{title} · Dwar"), kind, &html! {}, &body)
}

/// A card that says one thing and leads on by one link.
pub(crate) fn bare(title: &str, sentence: &str, (href, label): (&str, &str)) -> Markup {
    let content = html! {
        p { (sentence) }
        p { a.button href=(href) { (label) } }
    };
    card(title, (Theme::System, Language::English), &content)
}

/// The door.
pub(crate) fn mark() -> Markup {
    html! {
        svg.mark viewBox="0 0 32 32" width="26" height="26" aria-hidden="true" {
            path d="M5 30V13C5 6.9 9.9 2 16 2s11 4.9 11 11v17z" fill="currentColor" {}
            path.mark-inner d="M10 30V14c0-3.3 2.7-6 6-6s6 2.7 6 6v16z" {}
            circle cx="19" cy="20" r="1.6" fill="currentColor" {}
        }
    }
}

/// One entry of the navigation.
struct Entry {
    href: String,
    label: &'static str,
    icon: &'static str,
}

/// What this operator may see of a project.
fn project_entries(visit: &Visit, project: &Project) -> Vec<Entry> {
    let pages = [
        ("overview", nav::OVERVIEW, "chart", Command::ShowFigures),
        ("playground", nav::PLAYGROUND, "play", Command::Play),
        ("inbox", nav::INBOX, "mail", Command::Play),
        ("activity", nav::ACTIVITY, "pulse", Command::ListRequests),
        ("keys", nav::KEYS, "key", Command::ListKeys),
        ("settings", nav::SETTINGS, "sliders", Command::ShowProject),
        ("wallet", nav::WALLET, "wallet", Command::ShowWallet),
        ("identities", nav::IDENTITIES, "person", Command::FindIdentity),
        ("audit", nav::AUDIT, "log", Command::ListProjectAudit),
    ];
    let seen = pages.into_iter().filter(|page| visit.may(project, page.3));
    let entry =
        |(page, label, icon, _)| Entry { href: format!("/p/{}/{page}", project.id), label, icon };
    seen.map(entry).collect()
}

/// The first page of a project that this operator may see.
pub(crate) fn first_page(visit: &Visit, project: &Project) -> Option<String> {
    project_entries(visit, project).into_iter().next().map(|entry| entry.href)
}

/// The pages that this operator may open, of a project and of the installation: where and how called.
pub(crate) fn page_links(visit: &Visit, project: Option<&Project>) -> Vec<(String, &'static str)> {
    let own = Entry { href: "/account".to_owned(), label: nav::ACCOUNT, icon: "person" };
    let inside = project.map(|project| project_entries(visit, project)).unwrap_or_default();
    let all = inside.into_iter().chain(installation_entries(visit)).chain([own]);
    all.map(|entry| (entry.href, entry.label)).collect()
}

/// The name of a project, which leads to its first page where this operator may open one.
pub(crate) fn project_link(visit: &Visit, project: &Project) -> Markup {
    html! {
        @match first_page(visit, project) {
            Some(page) => a href=(page) title=(project.id) { (project.name) },
            None => (project.name),
        }
    }
}

fn installation_entries(visit: &Visit) -> Vec<Entry> {
    let may = |command| visit.by.may(command, None);
    let pages = [
        ("/projects", nav::PROJECTS, "grid", true),
        ("/team", nav::TEAM, "team", may(Command::ListOperators)),
        ("/operations", nav::OPERATIONS, "pulse", may(Command::ShowOperations)),
        ("/audit", nav::AUDIT_ALL, "log", may(Command::ListAudit)),
        ("/tokens", nav::TOKENS, "key", may(Command::ListTokens)),
    ];
    let seen = pages.into_iter().filter(|page| page.3);
    seen.map(|(href, label, icon, _)| Entry { href: href.to_owned(), label, icon }).collect()
}

fn list(path: &str, entries: &[Entry]) -> Markup {
    html! {
        ul {
            @for Entry { href, label, icon: name } in entries {
                li { a href=(href) aria-current=[(path == href).then_some("page")] { (icon(name)) (label) } }
            }
        }
    }
}

fn theme_switch(visit: &Visit) -> Markup {
    let labels = [nav::THEME_SYSTEM, nav::THEME_LIGHT, nav::THEME_DARK];
    html! {
        form.theme method="post" action="/theme" {
            (csrf(visit))
            input type="hidden" name="back" value=(PageAddress::or_home(visit.page.as_ref()));
            fieldset {
                legend.hidden { (nav::THEME) }
                @for (theme, label) in Theme::ALL.into_iter().zip(labels) {
                    button name="theme" value=(theme.as_str()) title=(label)
                        aria-pressed=(if theme == visit.theme { "true" } else { "false" }) {
                        (icon(theme.as_str())) span.hidden { (label) }
                    }
                }
            }
        }
    }
}

/// Leads back to `back` in the language of the button. It works for strangers too.
pub(crate) fn language_switch(chosen: Language, back: &str) -> Markup {
    html! {
        form.theme.language method="post" action="/language" {
            input type="hidden" name="back" value=(back);
            fieldset {
                legend.hidden { (nav::LANGUAGE) }
                @for language in Language::ALL {
                    button name="language" value=(language.as_str()) lang=(language.as_str())
                        aria-pressed=(if language == chosen { "true" } else { "false" }) {
                        (language.own_name())
                    }
                }
            }
        }
    }
}

/// The field without which no form is taken.
pub(crate) fn csrf(visit: &Visit) -> Markup {
    html! { input type="hidden" name="csrf" value=(visit.csrf); }
}

fn initial(name: &str) -> String {
    name.chars().next().map(|first| first.to_uppercase().to_string()).unwrap_or_default()
}

/// Small line drawings, 16 by 16.
pub(crate) fn icon(name: &str) -> Markup {
    let path = match name {
        "chart" => "M2.500 13.500h11M4.500 11V8.500M8 11V3.500M11.500 11V6",
        "play" => "M5 3.5v9l7.5-4.5z",
        "key" => {
            "M5.500 12.500a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM7.700 7.300L13.500 2M11.500 4l2 2M9.700 5.600l1.500 1.500"
        }
        "sliders" => "M2 4.500h7M12 4.500h2M2 11.500h2M7 11.500h7M10.500 3v3M5.500 10v3",
        "wallet" => "M2.500 4.500h10a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-10zM2.500 4.500l8-2v2M11 9h.01",
        "person" => {
            "M8 8a2.700 2.700 0 1 0 0-5.400A2.700 2.700 0 0 0 8 8zM3 14c0-2.800 2.200-4.500 5-4.500s5 1.700 5 4.500"
        }
        "team" => {
            "M6 7.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM1.500 13.500c0-2.500 2-4 4.500-4s4.500 1.500 4.500 4M10.500 2.800a2.500 2.500 0 0 1 0 4.400M12 9.800c1.500.5 2.500 1.800 2.500 3.700"
        }
        "pulse" => "M1.500 8.500h3l2-5 3 9 2-4h3",
        "log" => "M3 3h10M3 6.500h10M3 10h6M3 13.500h4",
        "grid" => {
            "M2.500 2.500h4v4h-4zM9.500 2.500h4v4h-4zM2.500 9.500h4v4h-4zM9.500 9.500h4v4h-4z"
        }
        "swap" => "M5 6l3-3 3 3M5 10l3 3 3-3",
        "mail" => "M2 3.500h12v9H2zM2.500 4.500l5.500 4.500 5.500-4.500",
        "down" => "M4 6l4 4 4-4",
        "menu" => "M2 4h12M2 8h12M2 12h12",
        "light" => {
            "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1"
        }
        "dark" => "M13 9.500A5.500 5.500 0 0 1 6.500 3 5.500 5.500 0 1 0 13 9.500z",
        "system" => "M2 3h12v8H2zM6 14h4M8 11v3",
        "find" => "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.700 10.700L14 14",
        "check" => "M3 8.500l3.500 3.500L13 4.500",
        "cross" => "M4 4l8 8M12 4l-8 8",
        "clock" => "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.500V8l2.500 1.500",
        "dot" => "M8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
        "copy" => "M5.500 5.500h8v8h-8zM3 10.500h-.5v-8h8V3",
        _ => "M3 8h10",
    };
    html! {
        svg.icon viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" { path d=(path) {} }
    }
}
