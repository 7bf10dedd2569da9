use super::settings_form::{GUARD, field};
use crate::visit::Visit;
use dwar_kernel::GuardMode;
use dwar_project::{Project, Setting};
use maud::{Markup, html};

/// The mode of the project's guard.
pub(crate) fn card(visit: &Visit, project: &Project) -> Markup {
    let modes = GuardMode::ALL.map(|mode| (mode.to_string(), mode.to_string()));
    GUARD.card(visit, project, |form| {
        html! { (field(project, Setting::Guard, "", |it| form.choice(it, &modes))) }
    })
}
