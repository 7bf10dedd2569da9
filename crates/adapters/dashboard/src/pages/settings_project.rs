use super::parts::{Danger, secret};
use super::settings_form::{self, SettingsForm};
use crate::form::{Field, Refused};
use crate::texts::settings_project as texts;
use crate::visit::Visit;
use dwar_operator::Command;
use dwar_project::{Project, ProjectChange};
use maud::{Markup, html};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct NameForm {
    name: String,
}

impl SettingsForm for NameForm {
    const NAME: &'static str = "project";

    fn change(self) -> Result<ProjectChange, (&'static str, String)> {
        Ok(ProjectChange { name: Some(self.name), ..ProjectChange::default() })
    }
}

/// The name and the id.
pub(crate) fn card(visit: &Visit, project: &Project, refused: Option<&Refused<'_>>) -> Markup {
    let field = Field {
        name: "name",
        label: texts::NAME,
        value: &project.name,
        hint: texts::NAME_HINT,
        required: true,
        ..Field::TEXT
    };
    settings_form::card::<NameForm>(visit, project, texts::PROJECT, refused, |form| {
        html! {
            div.columns {
                (form.field(&field))
                div.field {
                    span.label { (texts::ID) }
                    (secret("project-id", &project.id.to_string()))
                }
            }
        }
    })
}

/// Whether it is offered to archive it.
pub(crate) fn may_archive(visit: &Visit, project: &Project) -> bool {
    project.archived_at.is_none() && visit.may(project, Command::ArchiveProject)
}

/// How to archive it, for who may.
pub(crate) fn archive_section(visit: &Visit, project: &Project) -> Markup {
    let danger = Danger {
        id: "archive",
        action: &format!("/p/{}/settings/archive", project.id),
        summary: texts::ARCHIVE,
        consequences: &texts::ARCHIVE_STOPS,
        word: &project.name,
        button: texts::ARCHIVE_NOW,
    };
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
