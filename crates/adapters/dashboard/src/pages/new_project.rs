use super::home::{self, HomeQuery};
use super::keys::call;
use super::parts::{notice, secret};
use super::reply::Reply;
use crate::answer::PageResult;
use crate::form::RefusedForm;
use crate::layout::Frame;
use crate::texts::new_project as texts;
use crate::visit::{SignedInForm, Visit};
use dwar_app::CreatedProject;
use dwar_operator::Command;
use dwar_project::{Project, ProjectName};
use dwar_wallet::Amount;
use maud::{Markup, html};
use serde::Deserialize;

#[derive(Deserialize)]
pub(crate) struct NewProjectForm {
    name: String,
}

/// `POST /projects`: creates a project; only this answer shows its two keys.
pub(crate) async fn create(
    SignedInForm { visit, form }: SignedInForm<NewProjectForm>,
) -> PageResult {
    let manage = &visit.console.manage;
    manage.control.admit(&visit.by, Command::CreateProject, None)?;
    let name = match form.name.parse::<ProjectName>() {
        Ok(name) => name,
        Err(cause) => {
            let visit = visit.refuse(RefusedForm::new("new", "name", &cause.to_string()));
            return home::page(&visit, &HomeQuery::default(), Reply::refused(&visit)).await;
        }
    };
    let created = manage.projects.create(&visit.by, &name, Amount::ZERO).await?;
    let project = manage.projects.show(&visit.by, created.id).await?;
    let lead = format!("{} {}", project.name, texts::CREATED);
    let content = made(&visit, &project, &created);
    Frame::new(&visit, texts::TITLE, &lead).of(&project).show(&content)
}

fn made(visit: &Visit, project: &Project, created: &CreatedProject) -> Markup {
    let page = |page: &str| format!("/p/{}/{page}", project.id);
    let keys = [
        ("test-key", texts::TEST, &created.test_key),
        ("live-key", texts::LIVE, &created.live_key),
    ];
    html! {
        div.stack {
            (notice("good", texts::ONCE))
            div.columns {
                @for (id, (title, about), key) in keys {
                    section.card.stack {
                        h2 { (title) }
                        p.muted { (about) }
                        (secret(id, key.expose()))
                    }
                }
            }
            section.card.stack {
                h2 { (texts::NEXT) }
                p.muted { (texts::TRY) }
                (call(visit, created.test_key.expose()))
                p {
                    a.button.primary href=(page("playground")) { (texts::TO_PLAYGROUND) }
                    a.button href=(page("overview")) { (texts::TO_OVERVIEW) }
                }
            }
        }
    }
}
