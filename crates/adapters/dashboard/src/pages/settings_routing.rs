use super::settings_form::{self, SettingsForm, optional};
use crate::form::{Field, Form, Refused};
use crate::format::span;
use crate::texts::settings as texts;
use crate::visit::Visit;
use dwar_otp::Channel;
use dwar_project::{Project, ProjectChange};
use maud::{Markup, html};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The choice of sending nothing over a channel.
const NONE: &str = "none";

/// Who carries messages, and when the next channel is tried.
#[derive(Deserialize)]
pub(crate) struct RoutingForm {
    fallback_seconds: String,
    /// The providers chosen, by channel and place.
    #[serde(flatten)]
    places: BTreeMap<String, String>,
}

impl RoutingForm {
    /// The providers chosen for a channel, in order; `None` is the installation's own list.
    fn providers(&self, field: &str) -> Option<Vec<String>> {
        let chosen = (0..).map_while(|place| self.places.get(&place_of(field, place)));
        let chosen: Vec<_> = chosen.filter(|name| !name.is_empty()).cloned().collect();
        match chosen.as_slice() {
            [] => None,
            names if names.iter().any(|name| name == NONE) => Some(Vec::new()),
            _ => Some(chosen),
        }
    }
}

/// The first has the name of the setting, which is what a refusal names.
fn place_of(field: &str, place: usize) -> String {
    if place == 0 { field.to_owned() } else { format!("{field}_{}", place + 1) }
}

impl SettingsForm for RoutingForm {
    const NAME: &'static str = "routing";

    fn change(self) -> Result<ProjectChange, (&'static str, String)> {
        let seconds = optional(self.fallback_seconds.trim(), str::parse::<u32>);
        let seconds = seconds.map_err(|_| ("fallback_seconds", texts::NO_SECONDS.to_owned()))?;
        Ok(ProjectChange {
            whatsapp_providers: Some(self.providers("whatsapp_providers")),
            sms_providers: Some(self.providers("sms_providers")),
            fallback_seconds: Some(seconds),
            ..ProjectChange::default()
        })
    }
}

/// A choice for each place in the order of a channel.
pub(crate) fn card(visit: &Visit, project: &Project, refused: Option<&Refused<'_>>) -> Markup {
    let seconds = project.routing.fallback_seconds.map(|own| own.to_string()).unwrap_or_default();
    let fallback = Field {
        name: "fallback_seconds",
        label: texts::FALLBACK,
        value: &seconds,
        hint: texts::FALLBACK_HINT,
        placeholder: texts::AS_INSTALLED,
        ..Field::TEXT
    };
    let routing = &project.routing;
    let whatsapp = (Channel::Whatsapp, "whatsapp_providers", texts::WHATSAPP, &routing.whatsapp);
    let channels = [whatsapp, (Channel::Sms, "sms_providers", texts::SMS, &routing.sms)];
    settings_form::card::<RoutingForm>(visit, project, texts::ROUTING, refused, |form| {
        html! {
            div.columns {
                @for (channel, field, label, own) in channels {
                    (places(form, (channel, field, label), own.as_deref(), visit))
                }
                (form.field(&fallback))
            }
        }
    })
}

/// Those that can be chosen for a channel, and those that are no longer configured until they are replaced:
/// their names, and how they are doing.
fn providers(visit: &Visit, channel: Channel, own: Option<&[String]>) -> Vec<(String, String)> {
    let providers = &visit.console.providers;
    let known = providers.names(channel);
    let gone = own.unwrap_or_default().iter().filter(|name| !known.contains(name));
    let gone = gone.map(|name| (name.clone(), format!("{name} ({})", texts::NOT_CONFIGURED)));
    let state = |name: &String| match providers.paused_for(name) {
        Some(left) => (name.clone(), format!("{name} ({} {})", texts::PAUSED_FOR, span(left))),
        None => (name.clone(), name.clone()),
    };
    known.iter().map(state).chain(gone).collect()
}

/// As many places as there are providers; a single one needs no group.
fn places(
    form: Form<'_>,
    (channel, field, title): (Channel, &str, &str),
    own: Option<&[String]>,
    visit: &Visit,
) -> Markup {
    let providers = providers(visit, channel, own);
    let default = visit.console.providers.defaults(channel).join(", ");
    let default = format!(
        "{} ({})",
        texts::AS_INSTALLED,
        if default.is_empty() { texts::NO_PROVIDER } else { &default }
    );
    let option = |value: &str, label: &str| (value.to_owned(), label.to_owned());
    let choice = |place: usize| {
        let mut options = match place {
            0 => vec![option("", &default), option(NONE, texts::NO_PROVIDER)],
            _ => vec![option("", texts::NO_MORE)],
        };
        options.extend_from_slice(&providers);
        let present = match own {
            Some([]) if place == 0 => NONE,
            _ => own.unwrap_or_default().get(place).map_or("", String::as_str),
        };
        let name = place_of(field, place);
        let label = match providers.len() {
            0 | 1 => title,
            _ => texts::PLACES.get(place).copied().unwrap_or(texts::THEN),
        };
        form.choice(&Field { name: &name, label, value: present, ..Field::TEXT }, &options)
    };
    html! {
        @if providers.len() < 2 { (choice(0)) }
        @else {
            fieldset.stack {
                legend { (title) }
                @for place in 0..providers.len() { (choice(place)) }
            }
        }
    }
}
