//! The settings pages of a project, and the sections on each.

use super::parts::notice;
use crate::answer::go;
use crate::texts::settings as texts;
use crate::visit::Visit;
use actix_web::HttpResponse;
use dwar_kernel::words;
use dwar_project::Project;
use maud::{Markup, html};

words! {
    /// A page of the settings, by the last segment of its address.
    Part {
        Messages = "messages",
        Delivery = "delivery",
        Tokens = "tokens",
        Events = "events",
        Project = "project",
    }
}

impl Part {
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::Messages => texts::MESSAGES.0,
            Self::Delivery => texts::ROUTING.0,
            Self::Tokens => texts::TOKENS_TITLE,
            Self::Events => texts::EVENTS_TITLE,
            Self::Project => texts::PROJECT_TITLE,
        }
    }

    /// The ids of its sections, including former ones that links may still use.
    const fn sections(self) -> &'static [&'static str] {
        match self {
            Self::Messages => &["messages"],
            Self::Delivery => &["routing", "guard", "relay"],
            Self::Tokens => &["tokens"],
            Self::Events => &["endpoints", "events_feed", "hooks", "hook-change", "webhooks"],
            Self::Project => &["project", "money", "identities", "archive"],
        }
    }

    pub(crate) fn with(section: &str) -> Self {
        let page = Self::ALL.into_iter().find(|part| part.sections().contains(&section));
        page.unwrap_or(Self::Project)
    }

    pub(crate) fn of_address(path: &str) -> Option<Self> {
        Self::from_word(path.rsplit('/').next()?)
    }

    pub(crate) fn address(self, project: &Project) -> String {
        format!("/p/{}/settings/{self}", project.id)
    }

    /// Links to the other pages. They mark where each section is, so that a script can follow an
    /// address with a section of another page.
    pub(crate) fn tabs(self, project: &Project) -> Markup {
        html! {
            nav.jump aria-label=(texts::PARTS) {
                @for part in Self::ALL {
                    a href=(part.address(project)) aria-current=[(part == self).then_some("page")] {
                        @if part != self { @for section in part.sections() { span id=(section) {} } }
                        (part.title())
                    }
                }
            }
        }
    }
}

/// Redirects to the section, which then shows the result.
pub(crate) fn back_to(project: &Project, section: &str, word: &str) -> HttpResponse {
    let page = Part::with(section).address(project);
    go(&format!("{page}?done={word}#{section}"))
}

/// The notice of a section with the result of its last form.
pub(crate) fn done(visit: &Visit, section: &str) -> Markup {
    let known = texts::DONE.iter().find(|(word, of, _)| *word == visit.done && *of == section);
    let sentence = match known {
        Some((_, _, sentence)) => *sentence,
        None if visit.done == section => texts::SAVED,
        None => return html! {},
    };
    notice("good", sentence)
}
