//! The navigation: the pages that an operator may open, and their names.

use crate::icons::icon;
use crate::language::{Language, Translated};
use crate::texts::{find, nav};
use crate::visit::Visit;
use dwar_operator::Command;
use dwar_project::Project;
use maud::{Markup, html};

pub(crate) struct NavigationEntry {
    href: String,
    label: Translated,
    icon: &'static str,
}

/// The pages of a project that this operator may open.
pub(crate) fn project_entries(visit: &Visit, project: &Project) -> Vec<NavigationEntry> {
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
    let entry = |(page, label, icon, _)| NavigationEntry {
        href: format!("/p/{}/{page}", project.id),
        label,
        icon,
    };
    seen.map(entry).collect()
}

/// The first page of a project that this operator may open.
pub(crate) fn first_page(visit: &Visit, project: &Project) -> Option<String> {
    project_entries(visit, project).into_iter().next().map(|entry| entry.href)
}

/// The pages of a project and of the installation that this operator may open: address and name.
pub(crate) fn page_links(visit: &Visit, project: Option<&Project>) -> Vec<(String, &'static str)> {
    let own = NavigationEntry { href: "/account".to_owned(), label: nav::ACCOUNT, icon: "person" };
    let inside = project.map(|project| project_entries(visit, project)).unwrap_or_default();
    let all = inside.into_iter().chain(installation_entries(visit)).chain([own]);
    all.map(|entry| (entry.href, entry.label.0)).collect()
}

/// The actions that this operator may take, and the sections of the settings that they may see:
/// address and name.
pub(crate) fn action_links(
    visit: &Visit,
    project: Option<&Project>,
) -> Vec<(String, &'static str)> {
    let anywhere = find::ACTIONS.iter();
    let anywhere = anywhere.filter(|(command, ..)| visit.by.may(*command, None));
    let inside = project.into_iter().flat_map(|project| {
        let may = |command: &Command| visit.may(project, *command);
        let own = find::ACTIONS_IN_PROJECT.iter().filter(move |(command, ..)| may(command));
        own.map(move |(_, page, label)| (format!("/p/{}/{page}", project.id), *label))
    });
    inside.chain(anywhere.map(|(_, page, label)| ((*page).to_owned(), *label))).collect()
}

/// The name of a project, as a link to its first page if this operator may open one.
pub(crate) fn project_link(visit: &Visit, project: &Project) -> Markup {
    html! {
        @match first_page(visit, project) {
            Some(page) => a href=(page) title=(project.id) { (project.name) },
            None => (project.name),
        }
    }
}

/// The pages of the installation that this operator may open.
pub(crate) fn installation_entries(visit: &Visit) -> Vec<NavigationEntry> {
    let may = |command| visit.by.may(command, None);
    let pages = [
        ("/projects", nav::PROJECTS, "grid", true),
        ("/team", nav::TEAM, "team", may(Command::ListOperators)),
        ("/operations", nav::OPERATIONS, "pulse", may(Command::ShowOperations)),
        ("/audit", nav::AUDIT_ALL, "log", may(Command::ListAudit)),
        ("/tokens", nav::TOKENS, "key", may(Command::ListTokens)),
        ("/reference", nav::REFERENCE, "book", true),
        ("/help", nav::HELP, "help", true),
    ];
    let seen = pages.into_iter().filter(|page| page.3);
    seen.map(|(href, label, icon, _)| NavigationEntry { href: href.to_owned(), label, icon })
        .collect()
}

/// Links to these pages in a language; the current page is marked.
pub(crate) fn list(path: &str, language: Language, entries: &[NavigationEntry]) -> Markup {
    html! {
        ul {
            @for NavigationEntry { href, label, icon: name } in entries {
                li { a href=(href) aria-current=[current(path, href)] { (icon(name)) (label.of(language)) } }
            }
        }
    }
}

/// Tells whether the current page is the target of a link, or below it.
fn current(path: &str, href: &str) -> Option<&'static str> {
    match path.strip_prefix(href)? {
        "" => Some("page"),
        rest => rest.starts_with('/').then_some("true"),
    }
}
