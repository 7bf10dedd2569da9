//! The settings of a project in one table: name, who may change it, type and field of [`Project`]. The audit
//! log, the admin API, the pages and the command line read this table.
//!
//! A new setting needs a row here, a field of [`Project`] with its column, a row in
//! `cli/project_settings.rs`, its words in the dashboard's `texts/settings.rs`, and its place in one of the
//! forms in `pages/settings_form.rs`.

use crate::{Project, ProjectName};
use dwar_kernel::{Amount, FixedClaims, GuardMode, Paise, TokenType, words};

/// The value of a setting. `None` is the default of the installation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    Switch(bool),
    /// A required line, by the rule of [`crate::ProjectName`].
    Name(String),
    Text(Option<String>),
    /// At most [`Messages::MOST_LAST_LINES`](crate::Messages::MOST_LAST_LINES) texts.
    Lines(Vec<String>),
    Providers(Option<Vec<String>>),
    /// At most [`Project::LONGEST_FALLBACK`].
    Seconds(Option<u32>),
    /// An [`Amount`](dwar_kernel::Amount).
    Paise(Option<Paise>),
    /// Claims by the rules of [`FixedClaims::check`].
    Claims(FixedClaims),
    TokenType(TokenType),
    Guard(GuardMode),
}

impl SettingValue {
    /// Why the value is invalid, as a sentence; `None` if it is valid.
    pub fn fault(&self) -> Option<String> {
        match self {
            Self::Name(text) => text.parse::<ProjectName>().err().map(|cause| cause.to_string()),
            Self::Seconds(Some(seconds)) => (*seconds > Project::LONGEST_FALLBACK)
                .then(|| format!("{} seconds are the longest", Project::LONGEST_FALLBACK)),
            Self::Paise(Some(paise)) => {
                Amount::try_from(paise.0).err().map(|cause| cause.to_string())
            }
            Self::Claims(claims) => claims.check().err().map(|cause| cause.to_string()),
            Self::Switch(_)
            | Self::Text(_)
            | Self::Lines(_)
            | Self::Providers(_)
            | Self::Seconds(None)
            | Self::Paise(None)
            | Self::TokenType(_)
            | Self::Guard(_) => None,
        }
    }
}

/// The permission that a change of a setting needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingGroup {
    Work,
    /// Prices, the threshold of a low balance, and the limit of a day's spend.
    Money,
}

trait SettingType: Sized {
    fn read(value: SettingValue) -> Option<Self>;

    /// Normalised form: texts are trimmed, line ends are single line feeds, and an optional text that is
    /// empty becomes `None`.
    fn tidied(self) -> Self;
}

macro_rules! held {
    ($($held:ty = $variant:ident, $tidied:expr;)+) => {$(
        impl From<$held> for SettingValue {
            fn from(held: $held) -> Self {
                Self::$variant(held)
            }
        }

        impl SettingType for $held {
            fn read(value: SettingValue) -> Option<Self> {
                match value { SettingValue::$variant(held) => Some(held), _ => None }
            }

            fn tidied(self) -> Self {
                let tidied: fn(Self) -> Self = $tidied;
                tidied(self)
            }
        }
    )+};
}

held! {
    bool = Switch, |held| held;
    String = Name, tidy;
    Option<String> = Text, |held| held.map(tidy).filter(|text| !text.is_empty());
    Vec<String> = Lines, all_tidy;
    Option<Vec<String>> = Providers, |held| held.map(all_tidy);
    Option<u32> = Seconds, |held| held;
    Option<Paise> = Paise, |held| held;
    FixedClaims = Claims, |held| held;
    TokenType = TokenType, |held| held;
    GuardMode = Guard, |held| held;
}

fn tidy(text: String) -> String {
    match text.contains("\r\n") {
        true => text.trim().replace("\r\n", "\n"),
        false => text.trim().to_owned(),
    }
}

fn all_tidy(texts: Vec<String>) -> Vec<String> {
    texts.into_iter().map(tidy).collect()
}

macro_rules! settings {
    ($($(#[$doc:meta])*
        $setting:ident = $name:literal of $group:ident, $change:ident: $held:ty => $($place:ident).+;)+) => {
        words! {
            /// A setting of a project, and its name in the admin API and the audit log.
            Setting { $($(#[$doc])* $setting = $name,)+ }
        }

        impl Setting {
            /// The permission that a change of this setting needs.
            pub const fn group(self) -> SettingGroup {
                match self { $(Self::$setting => SettingGroup::$group,)+ }
            }

            /// The empty value of the setting's type, as for a new project.
            pub fn blank(self) -> SettingValue {
                match self { $(Self::$setting => <$held>::default().into(),)+ }
            }
        }

        /// Settings to change. `None` leaves a setting unchanged; `Some(None)` resets it to the
        /// default of the installation.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct ProjectChange { $($(#[$doc])* pub $change: Option<$held>,)+ }

        impl ProjectChange {
            /// Sets one more setting. A value of another type leaves it unchanged.
            pub fn set(&mut self, setting: Setting, value: SettingValue) {
                match setting { $(Setting::$setting => self.$change = SettingType::read(value),)+ }
            }

            /// The settings that this change sets, each once.
            pub fn settings(&self) -> impl Iterator<Item = Setting> {
                let given = [$((Setting::$setting, self.$change.is_some())),+];
                given.into_iter().filter(|(_, is_given)| *is_given).map(|(setting, _)| setting)
            }
        }

        impl Project {
            /// The present value of `setting` in this project.
            pub fn get(&self, setting: Setting) -> SettingValue {
                match setting { $(Setting::$setting => Clone::clone(&self.$($place).+).into(),)+ }
            }

            /// The project with every setting that is `Some` in `change` replaced, normalised.
            #[must_use]
            pub fn with(mut self, change: ProjectChange) -> Self {
                $(if let Some(held) = change.$change { self.$($place).+ = held.tidied(); })+
                self
            }
        }
    };
}

settings! {
    /// Name of the project for people; also the brand in its messages.
    Name = "name" of Work, name: String => name;
    /// Whether `GET /v1/identity…` answers.
    IdentityLookup = "identity_lookup" of Work, identity_lookup: bool => identity_lookup;
    /// Whether `DELETE /v1/identity/…` deletes.
    IdentityDelete = "identity_delete" of Work, identity_delete: bool => identity_delete;
    /// Whether `POST /v1/otp/relay` sends with the live key.
    RelayLive = "relay_live" of Work, relay_live: bool => relay.live;
    /// Whether `POST /v1/otp/relay` sends with the test key.
    RelayTest = "relay_test" of Work, relay_test: bool => relay.test;
    /// Whether events are kept and `GET /v1/events` answers.
    EventsFeed = "events_feed" of Work, events_feed: bool => events_feed.on;
    /// What happens to live sends during a flood.
    Guard = "guard" of Work, guard: GuardMode => guard;
    /// Whether the `iss` of its live tokens is an issuer of its own.
    OwnIssuer = "own_issuer" of Work, own_issuer: bool => own_issuer;
    /// Additional claims of live tokens with an issuer of its own.
    TokenClaims = "token_claims" of Work, token_claims: FixedClaims => token_profile.claims;
    /// `typ` of live tokens with an issuer of its own.
    TokenType = "token_type" of Work, token_type: TokenType => token_profile.token_type;
    /// Price of a code delivered over WhatsApp.
    WhatsappPrice = "whatsapp_price_paise" of Money, whatsapp_price: Option<Paise> => prices.whatsapp;
    /// Price of a code delivered over SMS.
    SmsPrice = "sms_price_paise" of Money, sms_price: Option<Paise> => prices.sms;
    /// Name of the sender that recipients know.
    Brand = "brand" of Work, brand: Option<String> => messages.brand;
    /// The language of its texts, a BCP 47 tag.
    Language = "language" of Work, language: Option<String> => messages.language;
    /// The text of an SMS with its placeholders.
    SmsText = "sms_text" of Work, sms_text: Option<String> => messages.text;
    /// Id under which that text is registered (DLT content template).
    SmsTemplateId = "sms_template_id" of Work, sms_template_id: Option<String> => messages.template_id;
    /// The site that may read the code out of the SMS (WebOTP).
    WebotpDomain = "webotp_domain" of Work, webotp_domain: Option<String> => messages.domain;
    /// Hash of the Android app that may read the code out of the SMS (SMS Retriever).
    AppHash = "app_hash" of Work, app_hash: Option<String> => messages.app_hash;
    /// Other domains and app hashes that a send may name.
    LastLines = "last_lines" of Work, last_lines: Vec<String> => messages.last_lines;
    /// Providers over WhatsApp in order; an empty list skips the channel.
    WhatsappProviders = "whatsapp_providers" of Work, whatsapp_providers: Option<Vec<String>> => routing.whatsapp;
    /// Providers over SMS in order; an empty list skips the channel.
    SmsProviders = "sms_providers" of Work, sms_providers: Option<Vec<String>> => routing.sms;
    /// Seconds without a receipt after which the next channel is tried; with 0 only a failure leads
    /// to it.
    FallbackSeconds = "fallback_seconds" of Work, fallback_seconds: Option<u32> => routing.fallback_seconds;
    /// A balance below this sends an event; `None` sends none.
    LowBalance = "low_balance_paise" of Money, low_balance: Option<Paise> => low_balance;
    /// The most that live sends may spend on one day in Indian time; `None` for no limit.
    DailySpend = "daily_spend_paise" of Money, daily_spend: Option<Paise> => daily_spend;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NewProject;
    use dwar_kernel::Timestamp;
    use std::mem::discriminant;

    #[test]
    fn every_setting_is_changed_alone_and_only_by_a_value_of_its_type() {
        let id = "00000000-0000-7000-8000-000000000001".parse().unwrap();
        let new = NewProject { id, name: "Chai".to_owned(), created_at: Timestamp::UNIX_EPOCH };
        let project = new.into_project();
        let values = [
            SettingValue::Switch(true),
            SettingValue::Name("Tea".to_owned()),
            SettingValue::Text(Some("en".to_owned())),
            SettingValue::Lines(vec!["example.com".to_owned()]),
            SettingValue::Providers(Some(Vec::new())),
            SettingValue::Seconds(Some(30)),
            SettingValue::Paise(Some(Paise(20))),
            SettingValue::Claims("role=authenticated".parse().unwrap()),
            SettingValue::TokenType(TokenType::Jwt),
            SettingValue::Guard(GuardMode::Watch),
        ];
        for setting in Setting::ALL {
            let mut fitting = 0;
            for value in &values {
                let mut change = ProjectChange::default();
                change.set(setting, value.clone());
                let changed = project.clone().with(change.clone());
                let differ = |it: &Setting| changed.get(*it) != project.get(*it);
                let differing: Vec<_> = Setting::ALL.into_iter().filter(differ).collect();
                assert_eq!(differing, change.settings().collect::<Vec<_>>(), "{setting}");
                if changed.get(setting) == *value {
                    fitting += 1;
                    assert_eq!(discriminant(value), discriminant(&setting.blank()), "{setting}");
                }
            }
            assert_eq!(fitting, 1, "{setting}");
        }
    }
}
