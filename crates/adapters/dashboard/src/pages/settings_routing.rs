use super::parts::linked;
use super::provider;
use super::settings_form::{ROUTING, field};
use super::settings_values::{NONE, name_of, place_of};
use crate::form::{Field, FormView};
use crate::format::span;
use crate::texts::{common, settings as texts};
use crate::visit::Visit;
use dwar_otp::Channel;
use dwar_project::{Project, Setting};
use maud::{Markup, html};
use std::collections::BTreeSet;

/// A choice for each place in the order of a channel.
pub(crate) fn card(visit: &Visit, project: &Project) -> Markup {
    let routing = &project.routing;
    let channels = [
        (Channel::Whatsapp, Setting::WhatsappProviders, &routing.whatsapp),
        (Channel::Sms, Setting::SmsProviders, &routing.sms),
    ];
    ROUTING.card(visit, project, |form| {
        html! {
            @if !visit.console.manage.first_steps.can_send() { p.notice.warn { (linked(common::NO_PROVIDERS)) } }
            div.columns {
                @for (channel, setting, own) in channels {
                    (places(form, (channel, setting), own.as_deref(), visit))
                }
                (field(project, Setting::FallbackSeconds, texts::AS_INSTALLED, |it| form.field(it)))
            }
            (pages(visit, project))
        }
    })
}

/// The providers to choose for a channel, including unconfigured ones that are still set: their
/// names and their state.
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

/// One field per provider; a single one needs no group.
fn places(
    form: FormView<'_>,
    (channel, setting): (Channel, Setting),
    own: Option<&[String]>,
    visit: &Visit,
) -> Markup {
    let (name, (title, _)) = (name_of(setting), texts::words(setting));
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
        let name = place_of(name, place);
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

fn pages(visit: &Visit, project: &Project) -> Markup {
    let providers = &visit.console.providers;
    let names = [Channel::Whatsapp, Channel::Sms].map(|channel| providers.names(channel)).concat();
    html! {
        ul.pills aria-label=(texts::PROVIDER_PAGES) {
            @for name in BTreeSet::from_iter(names) {
                li { a href=(provider::address(project, &name)) { (name) } " " (provider::pill(&providers.health(&name))) }
            }
        }
    }
}
