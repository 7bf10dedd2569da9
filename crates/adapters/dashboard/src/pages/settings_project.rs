use super::parts::{DestructiveForm, secret};
use super::settings_form::{NAME, field};
use crate::form::Field;
use crate::texts::settings_project as texts;
use crate::visit::Visit;
use dwar_operator::Command;
use dwar_project::{Project, Setting};
use maud::{Markup, html};

pub(crate) fn card(visit: &Visit, project: &Project) -> Markup {
    NAME.card(visit, project, |form| {
        html! {
            div.columns {
                (field(project, Setting::Name, "", |it| form.field(&Field { required: true, ..*it })))
                div.field {
                    span.label { (texts::ID) }
                    (secret("project-id", &project.id.to_string()))
                }
            }
        }
    })
}

pub(crate) fn may_archive(visit: &Visit, project: &Project) -> bool {
    project.archived_at.is_none() && visit.may(project, Command::ArchiveProject)
}

/// The form that archives the project, for operators with the right to it.
pub(crate) fn archive_section(visit: &Visit, project: &Project) -> Markup {
    let action = &format!("/p/{}/settings/archive", project.id);
    let danger =
        DestructiveForm { id: "archive", action, word: &project.name, words: &texts::ARCHIVE };
    html! {
        @if may_archive(visit, project) {
            section.card.stack #archive {
                h2 { (texts::ARCHIVING) }
                p.muted { (texts::ARCHIVING_HINT) }
                (danger.show(visit, &[]))
            }
        }
    }
}
