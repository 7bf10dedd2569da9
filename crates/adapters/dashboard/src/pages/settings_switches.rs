use super::settings_form::{SettingsForm, card};
use crate::form::Refused;
use crate::texts::settings as texts;
use crate::visit::Visit;
use dwar_project::{Project, ProjectChange};
use maud::{Markup, html};
use serde::Deserialize;

/// Whether codes of somebody else are delivered, by mode.
#[derive(Deserialize)]
pub(crate) struct RelayForm {
    relay_live: Option<String>,
    relay_test: Option<String>,
}

impl SettingsForm for RelayForm {
    const NAME: &'static str = "relay";

    fn change(self) -> Result<ProjectChange, (&'static str, String)> {
        Ok(ProjectChange {
            relay_live: Some(self.relay_live.is_some()),
            relay_test: Some(self.relay_test.is_some()),
            ..ProjectChange::default()
        })
    }
}

/// Look-up and deletion on or off.
#[derive(Deserialize)]
pub(crate) struct SwitchesForm {
    identity_lookup: Option<String>,
    identity_delete: Option<String>,
}

impl SettingsForm for SwitchesForm {
    const NAME: &'static str = "identities";

    fn change(self) -> Result<ProjectChange, (&'static str, String)> {
        Ok(ProjectChange {
            identity_lookup: Some(self.identity_lookup.is_some()),
            identity_delete: Some(self.identity_delete.is_some()),
            ..ProjectChange::default()
        })
    }
}

pub(crate) fn switches_card(
    visit: &Visit,
    project: &Project,
    refused: Option<&Refused<'_>>,
) -> Markup {
    let (lookup, delete) = (project.identity_lookup, project.identity_delete);
    card::<SwitchesForm>(visit, project, texts::IDENTITIES, refused, |form| {
        html! {
            div.checks {
                (form.check("identity_lookup", texts::LOOKUP, texts::LOOKUP_HINT, lookup))
                (form.check("identity_delete", texts::DELETE, texts::DELETE_HINT, delete))
            }
        }
    })
}

pub(crate) fn relay_card(
    visit: &Visit,
    project: &Project,
    refused: Option<&Refused<'_>>,
) -> Markup {
    card::<RelayForm>(visit, project, texts::RELAY, refused, |form| {
        html! {
            div.checks {
                (form.check("relay_live", texts::RELAY_LIVE, texts::RELAY_LIVE_HINT, project.relay.live))
                (form.check("relay_test", texts::RELAY_TEST, texts::RELAY_TEST_HINT, project.relay.test))
            }
        }
    })
}
