use super::settings_parts::done;
use super::settings_values::{InvalidInput, name_of, read, shown};
use crate::form::{Field, FormView, SubmittedFields};
use crate::layout::csrf;
use crate::texts::{
    common,
    settings::{self as texts, LabelAndHint},
    settings_project as project, settings_tokens as tokens,
};
use crate::visit::Visit;
use dwar_operator::Command;
use dwar_project::{Project, ProjectChange, Setting, SettingGroup, SettingValue};
use maud::{Markup, html};

/// A form of the settings that changes the project.
pub(crate) struct SettingsForm {
    pub(crate) name: &'static str,
    pub(crate) title: LabelAndHint,
    /// The settings that it changes, all with the same right.
    settings: &'static [Setting],
}

pub(crate) const NAME: SettingsForm = form("project", project::PROJECT, &[Setting::Name]);
pub(crate) const MESSAGES: SettingsForm = form(
    "messages",
    texts::MESSAGES,
    &[
        Setting::Brand,
        Setting::Language,
        Setting::SmsText,
        Setting::SmsTemplateId,
        Setting::WebotpDomain,
        Setting::AppHash,
        Setting::LastLines,
    ],
);
pub(crate) const ROUTING: SettingsForm = form(
    "routing",
    texts::ROUTING,
    &[Setting::WhatsappProviders, Setting::SmsProviders, Setting::FallbackSeconds],
);
pub(crate) const IDENTITIES: SettingsForm =
    form("identities", texts::IDENTITIES, &[Setting::IdentityLookup, Setting::IdentityDelete]);
pub(crate) const RELAY: SettingsForm =
    form("relay", texts::RELAY, &[Setting::RelayLive, Setting::RelayTest]);
pub(crate) const EVENTS_FEED: SettingsForm =
    form("events_feed", texts::EVENTS_FEED, &[Setting::EventsFeed]);
pub(crate) const GUARD: SettingsForm = form("guard", texts::GUARD, &[Setting::Guard]);
pub(crate) const TOKENS: SettingsForm =
    form("tokens", tokens::TOKENS, &[Setting::OwnIssuer, Setting::TokenClaims, Setting::TokenType]);
pub(crate) const MONEY: SettingsForm = form(
    "money",
    texts::MONEY,
    &[Setting::WhatsappPrice, Setting::SmsPrice, Setting::LowBalance, Setting::DailySpend],
);

pub(crate) const FORMS: [&SettingsForm; 9] =
    [&NAME, &MESSAGES, &ROUTING, &GUARD, &IDENTITIES, &RELAY, &EVENTS_FEED, &TOKENS, &MONEY];

const fn form(
    name: &'static str,
    title: LabelAndHint,
    settings: &'static [Setting],
) -> SettingsForm {
    SettingsForm { name, title, settings }
}

impl SettingsForm {
    pub(crate) fn command(&self) -> Command {
        match self.settings.iter().all(|setting| setting.group() == SettingGroup::Money) {
            true => Command::ChangePrices,
            false => Command::ChangeProject,
        }
    }

    /// The changes that were typed.
    ///
    /// # Errors
    /// The first invalid field.
    pub(crate) fn change(&self, typed: &SubmittedFields) -> Result<ProjectChange, InvalidInput> {
        let mut change = ProjectChange::default();
        for setting in self.settings.iter().copied() {
            if let Some(value) = read(setting, typed)? {
                change.set(setting, value);
            }
        }
        Ok(change)
    }

    /// The form with its title; shown as text if the operator lacks the right to it.
    pub(crate) fn card(
        &self,
        visit: &Visit,
        project: &Project,
        fields: impl FnOnce(FormView<'_>) -> Markup,
    ) -> Markup {
        let (name, (title, about)) = (self.name, self.title);
        let form = visit.form(name, visit.may(project, self.command()));
        let head = html! { h2 { (title) } p.muted { (about) } (done(visit, name)) };
        if !form.is_editable() {
            return html! { section.card.stack id=(name) { (head) (fields(form)) } };
        }
        html! {
            form.card.stack id=(name) method="post" action={ "/p/" (project.id) "/settings/" (name) } data-keep {
                (csrf(visit))
                (head)
                (fields(form))
                div { button.primary type="submit" { (common::SAVE) } }
            }
        }
    }

    pub(crate) fn switches(&self, visit: &Visit, project: &Project) -> Markup {
        self.card(visit, project, |form| {
            html! {
                div.checks { @for setting in self.settings { (switch(form, project, *setting)) } }
            }
        })
    }
}

/// The check box of a setting with the project's value.
pub(crate) fn switch(form: FormView<'_>, project: &Project, setting: Setting) -> Markup {
    let (label, hint) = texts::words(setting);
    let on = project.get(setting) == SettingValue::Switch(true);
    form.check(name_of(setting), label, hint, on)
}

/// A setting with its label and the project's value, for `show` to render.
pub(crate) fn field(
    project: &Project,
    setting: Setting,
    placeholder: &str,
    show: impl FnOnce(&Field<'_>) -> Markup,
) -> Markup {
    let (label, hint) = texts::words(setting);
    let value = shown(project.get(setting));
    let name = name_of(setting);
    show(&Field { name, label, hint, value: &value, placeholder, ..Field::TEXT })
}
