//! What `dwar project set` can change.

use super::Failure;
use super::project::named;
use crate::config;
use crate::wiring::Available;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dwar_app::sms_text_of;
use dwar_otp::Channel;
use dwar_project::{Messages, Project, ProjectChange, Routing};
use dwar_wallet::{InvalidAmount, Paise};
use std::convert::Infallible;
use std::str::FromStr;

#[derive(Args)]
#[group(required = true, multiple = true, id = "settings")]
pub struct Settings {
    /// What people call it
    #[arg(long)]
    name: Option<String>,
    /// Whether GET /v1/identity answers
    #[arg(long, value_name = "on|off", value_parser = switch())]
    identity_lookup: Option<bool>,
    /// Whether DELETE /v1/identity deletes
    #[arg(long, value_name = "on|off", value_parser = switch())]
    identity_delete: Option<bool>,
    /// Price of one code over WhatsApp in paise, or `default`
    #[arg(long, value_name = "PAISE")]
    whatsapp_price_paise: Option<OrDefault<u32>>,
    /// Price of one code over SMS in paise, or `default`
    #[arg(long, value_name = "PAISE")]
    sms_price_paise: Option<OrDefault<u32>>,
    /// Providers over WhatsApp in order, separated by commas; `none` skips WhatsApp; or `default`
    #[arg(long, value_name = "NAMES", value_parser = names)]
    whatsapp_providers: Option<OrDefault<Vec<String>>>,
    /// Providers over SMS in order, separated by commas; `none` skips SMS; or `default`
    #[arg(long, value_name = "NAMES", value_parser = names)]
    sms_providers: Option<OrDefault<Vec<String>>>,
    /// Seconds without a receipt before SMS is tried; 0 waits for none; or `default`
    #[arg(long, value_name = "SECONDS")]
    fallback_seconds: Option<OrDefault<u32>>,
    /// Who the messages are from, at most 30 characters, or `default`
    #[arg(long)]
    brand: Option<OrDefault<String>>,
    /// Language of the messages, such as en or hi, or `default`
    #[arg(long, value_name = "TAG")]
    language: Option<OrDefault<String>>,
    /// Text of the SMS with {code}, {brand} and {minutes}, or `default`
    #[arg(long, value_name = "TEXT")]
    sms_text: Option<OrDefault<String>>,
    /// The id that text is registered under (DLT content template), or `default`
    #[arg(long, value_name = "ID")]
    sms_template_id: Option<OrDefault<String>>,
    /// The site whose browser page may read the code (WebOTP), or `default` for none
    #[arg(long, value_name = "HOST")]
    webotp_domain: Option<OrDefault<String>>,
    /// The hash of the Android app that may read the code, or `default` for none
    #[arg(long, value_name = "HASH")]
    app_hash: Option<OrDefault<String>>,
    /// A balance below this raises the event wallet.low; `default` raises none
    #[arg(long, value_name = "RUPEES", value_parser = rupees)]
    low_balance_rupees: Option<OrDefault<Paise>>,
}

fn switch() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|word| word == "on")
}

/// A value of the project's own, or the word `default`.
#[derive(Clone)]
struct OrDefault<T>(Option<T>);

impl<T> OrDefault<T> {
    fn read<E>(text: &str, own: impl FnOnce(&str) -> Result<T, E>) -> Result<Self, E> {
        if text == "default" { Ok(Self(None)) } else { own(text).map(|own| Self(Some(own))) }
    }
}

impl<T: FromStr> FromStr for OrDefault<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::read(text, str::parse)
    }
}

/// Names separated by commas, or `none`.
fn names(text: &str) -> Result<OrDefault<Vec<String>>, Infallible> {
    let own = |text: &str| Ok(if text == "none" { Vec::new() } else { config::names(text) });
    OrDefault::read(text, own)
}

fn rupees(text: &str) -> Result<OrDefault<Paise>, InvalidAmount> {
    OrDefault::read(text, Paise::from_rupees)
}

impl Settings {
    /// What is to change of `before`; checked, so that no send finds out that it cannot work.
    pub fn change(self, before: &Project, providers: &Available) -> Result<ProjectChange, Failure> {
        let price = |own: OrDefault<u32>| own.0.map(|paise| Paise(paise.into()));
        let (messages, routing) = (self.messages(before), self.routing(before, providers)?);
        let change = ProjectChange {
            name: self.name.map(named).transpose()?,
            identity_lookup: self.identity_lookup,
            identity_delete: self.identity_delete,
            whatsapp_price: self.whatsapp_price_paise.map(price),
            sms_price: self.sms_price_paise.map(price),
            messages,
            routing,
            low_balance: self.low_balance_rupees.map(|own| own.0),
        };
        let mut after = before.clone();
        after.apply(change.clone());
        sms_text_of(&after).map_err(|cause| Failure::Refused(cause.to_string()))?;
        Ok(change)
    }

    fn messages(&self, before: &Project) -> Option<Messages> {
        let mut messages = before.messages.clone();
        let given = [
            (&self.brand, &mut messages.brand),
            (&self.language, &mut messages.language),
            (&self.sms_text, &mut messages.text),
            (&self.sms_template_id, &mut messages.template_id),
            (&self.webotp_domain, &mut messages.domain),
            (&self.app_hash, &mut messages.app_hash),
        ];
        for (given, setting) in given {
            if let Some(OrDefault(own)) = given {
                setting.clone_from(own);
            }
        }
        Some(messages).filter(|messages| *messages != before.messages)
    }

    fn routing(&self, before: &Project, providers: &Available) -> Result<Option<Routing>, Failure> {
        let mut routing = before.routing.clone();
        let given = [
            (Channel::Whatsapp, &self.whatsapp_providers, &mut routing.whatsapp),
            (Channel::Sms, &self.sms_providers, &mut routing.sms),
        ];
        for (channel, given, setting) in given {
            let Some(OrDefault(own)) = given else { continue };
            setting.clone_from(own);
            let objection = providers.objection(channel, setting.as_deref().unwrap_or_default());
            if let Some(objection) = objection {
                return Err(Failure::Refused(objection));
            }
        }
        if let Some(OrDefault(own)) = self.fallback_seconds {
            routing.fallback_seconds = own;
        }
        Ok(Some(routing).filter(|routing| *routing != before.routing))
    }
}
