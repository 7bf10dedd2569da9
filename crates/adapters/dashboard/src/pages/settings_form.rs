use crate::form::{Form, Refused};
use crate::layout::csrf;
use crate::texts::settings as texts;
use crate::visit::Visit;
use dwar_operator::Command;
use dwar_project::{Project, ProjectChange};
use maud::{Markup, html};
use serde::de::DeserializeOwned;

/// A form of the settings page that changes the project.
pub(crate) trait SettingsForm: DeserializeOwned + 'static {
    /// Its name, which is the last part of its address.
    const NAME: &'static str;
    const COMMAND: Command = Command::ChangeProject;

    /// What it asks for, or the field that cannot be read, and why.
    fn change(self) -> Result<ProjectChange, (&'static str, String)>;
}

/// A form with its title; text for who may not give its command.
pub(crate) fn card<F: SettingsForm>(
    visit: &Visit,
    project: &Project,
    (title, about): (&str, &str),
    refused: Option<&Refused<'_>>,
    fields: impl FnOnce(Form<'_>) -> Markup,
) -> Markup {
    let name = F::NAME;
    let form = Form::new(name, refused, visit.may(project, F::COMMAND));
    let head = html! { h2 { (title) } p.muted { (about) } };
    if !form.is_editable() {
        return html! { section.card.stack id=(name) { (head) (fields(form)) } };
    }
    html! {
        form.card.stack id=(name) method="post" action={ "/p/" (project.id) "/settings/" (name) } data-keep {
            (csrf(visit))
            (head)
            (fields(form))
            div { button.primary type="submit" { (texts::SAVE) } }
        }
    }
}

/// Nothing stands for the installation's own setting.
pub(crate) fn optional<T, E>(
    text: &str,
    read: impl Fn(&str) -> Result<T, E>,
) -> Result<Option<T>, E> {
    if text.is_empty() { Ok(None) } else { read(text).map(Some) }
}
