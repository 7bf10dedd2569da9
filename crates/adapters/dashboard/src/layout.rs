use crate::address::PageAddress;
use crate::alert_bar;
use crate::answer::{PageResult, html_answer};
use crate::assets;
use crate::format::time;
use crate::icons::{icon, mark};
use crate::language::Language;
use crate::navigation::{installation_entries, list, project_entries};
use crate::recent;
use crate::refusal::Refusal;
use crate::texts::{find, nav, refusals, settings_project as texts};
use crate::theme::Theme;
use crate::visit::Visit;
use actix_web::HttpRequest;
use actix_web::http::StatusCode;
use dwar_kernel::KeyMode;
use dwar_operator::Command;
use dwar_project::Project;
use maud::{DOCTYPE, Markup, html};

/// The frame of a page for a signed-in operator.
pub(crate) struct Frame<'a> {
    visit: &'a Visit,
    title: &'a str,
    lead: &'a str,
    /// The project of the page, if it has one.
    project: Option<&'a Project>,
    scripts: Vec<String>,
    /// A style sheet besides the one of every page.
    style: Option<String>,
    language: Language,
    /// The mode of the page, and where its switch leads.
    mode: KeyMode,
    other_mode: Option<String>,
}

impl<'a> Frame<'a> {
    /// A page in English, without a project and without scripts of its own.
    pub(crate) fn new(visit: &'a Visit, title: &'a str, lead: &'a str) -> Self {
        let (mode, language) = (visit.mode, Language::English);
        let (scripts, style, other_mode) = (Vec::new(), None, None);
        Self { visit, title, lead, project: None, scripts, style, language, mode, other_mode }
    }

    pub(crate) fn of(self, project: impl Into<Option<&'a Project>>) -> Self {
        Self { project: project.into(), ..self }
    }

    pub(crate) fn with(self, scripts: impl IntoIterator<Item = String>) -> Self {
        Self { scripts: scripts.into_iter().collect(), ..self }
    }

    pub(crate) fn styled(self, style: String) -> Self {
        Self { style: Some(style), ..self }
    }

    /// Sets the mode of the page, and the first page of the other mode.
    pub(crate) fn in_mode(self, mode: KeyMode, other: &str) -> Self {
        let other = self.project.map(|project| format!("/p/{}/{other}", project.id));
        Self { mode, other_mode: other, ..self }
    }

    pub(crate) const fn in_language(mut self, language: Language) -> Self {
        self.language = language;
        self
    }

    /// The answer with `content` in the frame.
    pub(crate) fn show(&self, content: &Markup) -> PageResult {
        self.answer(StatusCode::OK, content)
    }

    /// Like [`Frame::show`], with this status.
    pub(crate) fn answer(&self, status: StatusCode, content: &Markup) -> PageResult {
        let page = html! {
            a.skip href="#content" { (nav::SKIP.of(self.language)) }
            (self.side())
            main #content tabindex="-1" data-address=[self.visit.answers.as_ref().map(|it| PageAddress::or_home(Some(it)))] {
                (alert_bar::bar(self.visit, self.project, self.language))
                header.head {
                    @if let Some(project) = self.project { p.of-project { (project.name) } }
                    h1 { (self.title) }
                    @if self.is_testing() { " " span.pill.warn { (nav::TEST_MODE.of(self.language)) } }
                    p.lead { (self.lead) }
                }
                @if let Some(project) = self.project { (archived(self.visit, project, self.language)) }
                (content)
            }
            (self.palette())
        };
        let extra = html! {
            script type="module" src=(assets::SCRIPT.path()) {}
            meta name="csrf-token" content=(self.visit.csrf);
            @if let Some(style) = &self.style { link rel="stylesheet" href=(style); }
            @for script in &self.scripts { script type="module" src=(script) {} }
        };
        let title = match self.project {
            Some(project) => format!("{} · {} · Dwar", self.title, project.name),
            None => format!("{} · Dwar", self.title),
        };
        let kind = if self.is_testing() { "framed testing" } else { "framed" };
        let kind = (self.visit.theme, self.language, kind);
        let mut answer = html_answer(status, document(&title, kind, &extra, &page));
        let own = self.project.map(|project| project.id);
        if let Some(project) = own.filter(|_| own != self.visit.recent.0) {
            let cookie = recent::cookie(project, self.visit.console.names.tls);
            answer.add_cookie(&cookie).map_err(|_| Refusal::Failed)?;
        }
        Ok(answer)
    }

    /// The project of the navigation: that of the page, or the last one that was open.
    fn around(&self) -> Option<&Project> {
        self.project.or(self.visit.recent.1.as_ref())
    }

    fn side(&self) -> Markup {
        let Self { visit, language, .. } = *self;
        let project = self.around();
        let inside = project.map(|project| project_entries(visit, project)).unwrap_or_default();
        let outside = installation_entries(visit);
        let name = visit.present.operator.name.as_str();
        html! {
            header.side {
                div.side-top {
                    a.brand href="/" { (mark()) span { "Dwar" } }
                    @if self.project.is_some() { (self.mode_switch()) }
                    a.find href=(self.find()) data-palette {
                        (icon("find")) span.find-label { (find::TITLE.of(language)) } kbd { (find::KEYS) }
                    }
                    // A check box opens the navigation on narrow screens, without a script.
                    input #nav-open type="checkbox" aria-label=(nav::MENU.of(language));
                    label.menu-button for="nav-open" aria-hidden="true" { (icon("menu")) }
                }
                div.side-body {
                    @if let Some(project) = project {
                        a.project-chip href="/projects" title=(nav::SWITCH.of(language)) {
                            span.avatar aria-hidden="true" { (initial(&project.name)) }
                            span.project-name { (project.name) }
                            (icon("swap"))
                        }
                        nav aria-label=(nav::OF_PROJECT.of(language)) { (list(&visit.path, language, &inside)) }
                    }
                    nav.nav-outside aria-label=(nav::OF_INSTALLATION.of(language)) { (list(&visit.path, language, &outside)) }
                    div.side-foot {
                        div.switches {
                            (theme_switch(visit, language))
                            (language_switch((visit.language, language), PageAddress::or_home(visit.page.as_ref())))
                        }
                        div.who {
                            a href="/account" title=(nav::ACCOUNT.of(language)) {
                                span.avatar.round aria-hidden="true" { (initial(name)) }
                                span.project-name { (name) }
                            }
                            (post_button(visit, "/sign-out", "quiet", nav::SIGN_OUT.of(language)))
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
        self.around().map_or_else(|| "/find".to_owned(), |it| format!("/find?project={}", it.id))
    }

    /// The search palette: the page that the link leads to, without leaving this one.
    fn palette(&self) -> Markup {
        html! {
            dialog #palette.found aria-label=(find::TITLE.of(self.language)) data-recent=(find::RECENT) {
                form method="post" action="/find" role="search" {
                    (csrf(self.visit))
                    @if let Some(project) = self.around() { input type="hidden" name="project" value=(project.id); }
                    input type="hidden" name="mode" value=(self.mode);
                    @let what = find::WHAT.of(self.language);
                    input name="q" type="search" aria-label=(what) placeholder=(what) autocomplete="off"
                        spellcheck="false";
                }
                // What was found is in English.
                div #palette-found aria-live="polite" lang=[(self.language != Language::English).then_some("en")] {}
            }
            dialog #shortcuts aria-label=(find::SHORTCUTS.of(self.language)) {
                h2 { (find::SHORTCUTS.of(self.language)) }
                (shortcuts(self.language))
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
                    legend.hidden { (nav::MODE.of(self.language)) }
                    @for mode in [KeyMode::Live, KeyMode::Test] {
                        button name="mode" value=(mode)
                            aria-pressed=(if mode == self.mode { "true" } else { "false" }) {
                            (nav::mode(mode).of(self.language))
                        }
                    }
                }
            }
        }
    }
}

pub(crate) fn shortcuts(language: Language) -> Markup {
    html! {
        dl.shortcuts { @for (keys, does) in find::ALL_SHORTCUTS { dt { kbd { (keys) } } dd { (does.of(language)) } } }
    }
}

/// The notice on each page of an archived project, in English even if the page is in another
/// language.
fn archived(visit: &Visit, project: &Project, language: Language) -> Markup {
    html! {
        @if let Some(at) = project.archived_at {
            div.notice.warn.archived role="status" lang=[(language != Language::English).then_some("en")] {
                p { (texts::ARCHIVED) " " (time(at)) ". " (texts::REFUSED) }
                @if visit.may(project, Command::RestoreProject) {
                    (post_button(visit, &format!("/p/{}/settings/restore", project.id), "plain", texts::RESTORE))
                }
            }
        }
    }
}

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
                link rel="icon" type="image/svg+xml" href=(assets::ICON.path());
                link rel="stylesheet" href=(assets::CSS.path());
                (extra)
            }
            body class=(kind) { (body) }
        }
    }
}

/// A page without a session: a card in the middle.
pub(crate) fn card(title: &str, look: (Theme, Language), content: &Markup) -> Markup {
    let body = html! {
        main.card-page #content {
            div.brand.brand-large { (mark()) span { "Dwar" } }
            section.card { h1 { (title) } (content) }
        }
    };
    let kind = (look.0, look.1, "bare");
    let extra = html! { script type="module" src=(assets::SCRIPT.path()) {} };
    document(&format!("{title} · Dwar"), kind, &extra, &body)
}

/// A public page. A signed-in operator sees it in the frame of all pages, others without navigation
/// and with a link to sign in.
pub(crate) fn public(
    (request, visit): (&HttpRequest, Option<Visit>),
    (title, lead): (&str, &str),
    style: String,
    content: &Markup,
) -> PageResult {
    if let Some(visit) = visit {
        return Frame::new(&visit, title, lead).styled(style).show(content);
    }
    let sign_in = PageAddress::sign_in(PageAddress::of(request).as_ref());
    let body = html! {
        a.skip href="#content" { (nav::SKIP.0) }
        header.top {
            a.brand href="/" { (mark()) span { "Dwar" } }
            a.button href=(sign_in) { (refusals::SIGN_IN.0) }
        }
        main #content tabindex="-1" {
            header.head { h1 { (title) } p.lead { (lead) } }
            (content)
        }
    };
    let extra = html! {
        script type="module" src=(assets::SCRIPT.path()) {}
        link rel="stylesheet" href=(style);
    };
    let kind = (Theme::of(request), Language::English, "bare open");
    let page = document(&format!("{title} · Dwar"), kind, &extra, &body);
    Ok(html_answer(StatusCode::OK, page))
}

/// A card with one sentence and one link.
pub(crate) fn bare(title: &str, sentence: &str, (href, label): (&str, &str)) -> Markup {
    let content = html! {
        p { (sentence) }
        p { a.button href=(href) { (label) } }
    };
    card(title, (Theme::System, Language::English), &content)
}

fn theme_switch(visit: &Visit, language: Language) -> Markup {
    let labels = [nav::THEME_SYSTEM, nav::THEME_LIGHT, nav::THEME_DARK];
    html! {
        form.theme method="post" action="/theme" {
            (csrf(visit))
            input type="hidden" name="back" value=(PageAddress::or_home(visit.page.as_ref()));
            fieldset {
                legend.hidden { (nav::THEME.of(language)) }
                @for (theme, label) in Theme::ALL.into_iter().zip(labels) {
                    button name="theme" value=(theme.as_str()) title=(label.of(language))
                        aria-pressed=(if theme == visit.theme { "true" } else { "false" }) {
                        (icon(theme.as_str())) span.hidden { (label.of(language)) }
                    }
                }
            }
        }
    }
}

/// The language switch: one button per language, labelled in that language. It returns to `back`
/// and works without a session.
pub(crate) fn language_switch((chosen, shown): (Language, Language), back: &str) -> Markup {
    html! {
        form.theme.language method="post" action="/language" {
            input type="hidden" name="back" value=(back);
            fieldset {
                legend.hidden { (nav::LANGUAGE.of(shown)) }
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

pub(crate) fn csrf(visit: &Visit) -> Markup {
    html! { input type="hidden" name="csrf" value=(visit.csrf); }
}

/// A button that posts a form without fields.
pub(crate) fn post_button(visit: &Visit, action: &str, class: &str, label: &str) -> Markup {
    post_button_of(visit, action, (class, label, None), None)
}

/// Like [`post_button`], for one of several things: with its name for screen readers, and a hidden
/// field.
pub(crate) fn post_button_of(
    visit: &Visit,
    action: &str,
    (class, label, of): (&str, &str, Option<&str>),
    hidden: Option<(&str, &str)>,
) -> Markup {
    html! {
        form method="post" action=(action) {
            (csrf(visit))
            @if let Some((name, value)) = hidden { input type="hidden" name=(name) value=(value); }
            button.(class) type="submit" aria-label=[of.map(|of| format!("{label}: {of}"))] { (label) }
        }
    }
}

/// The letter in the avatar of a name.
pub(crate) fn initial(name: &str) -> String {
    name.chars().next().map(|first| first.to_uppercase().to_string()).unwrap_or_default()
}
