use super::parts::{Danger, Field, notice, secret};
use super::{go, settings};
use crate::form::Refused;
use crate::layout::Page;
use crate::texts::settings_project as texts;
use crate::visit::{NoFields, Posted, Visit};
use actix_web::http::StatusCode;
use actix_web::web::Path;
use dwar_operator::Command;
use dwar_project::{Project, ProjectChange};
use maud::{Markup, html};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct NameForm {
    name: String,
}

/// `POST /p/{project}/settings/project`: another name.
pub(crate) async fn rename(posted: Posted<NameForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ChangeProject).await?;
    let change = ProjectChange { name: Some(form.name), ..ProjectChange::default() };
    settings::apply(&visit, &project, "project", change).await
}

#[derive(Deserialize)]
pub(crate) struct ArchiveForm {
    word: String,
}

/// `POST /p/{project}/settings/archive`: its keys are refused from now on.
pub(crate) async fn archive(posted: Posted<ArchiveForm>, path: Path<String>) -> Page {
    let Posted { visit, form } = posted;
    let project = visit.project(&path, Command::ArchiveProject).await?;
    if form.word.trim() != project.name.trim() {
        let (status, above) = (StatusCode::UNPROCESSABLE_ENTITY, notice("bad", texts::WRONG_WORD));
        return settings::page(&visit, &project, status, &above, None).await;
    }
    visit.console.manage.projects.archive(&visit.by, project.id).await?;
    Ok(go(&format!("/p/{}/settings", project.id)))
}

/// `POST /p/{project}/settings/restore`: its keys are accepted again.
pub(crate) async fn restore(posted: Posted<NoFields>, path: Path<String>) -> Page {
    let visit = posted.visit;
    let project = visit.project(&path, Command::RestoreProject).await?;
    visit.console.manage.projects.restore(&visit.by, project.id).await?;
    Ok(go(&format!("/p/{}/settings?done=restored", project.id)))
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
    let form = ("project", Command::ChangeProject);
    settings::card(visit, project, form, texts::PROJECT, refused, |form| {
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
