//! What `dwar project set` can change.

use super::Failure;
use super::project::named;
use crate::wiring::Available;
use clap::{Args, ValueEnum};
use dwar_app::sms_text_of;
use dwar_otp::Channel;
use dwar_project::{Messages, Project, ProjectChange, Routing};
use dwar_wallet::Paise;
use std::str::FromStr;

#[derive(Args)]
#[group(required = true, multiple = true, id = "settings")]
pub struct Settings {
    /// What people call it
    #[arg(long)]
    name: Option<String>,
    /// Whether GET /v1/identity answers
    #[arg(long, value_name = "on|off")]
    identity_lookup: Option<Switch>,
    /// Whether DELETE /v1/identity deletes
    #[arg(long, value_name = "on|off")]
    identity_delete: Option<Switch>,
    /// Price of one code over WhatsApp in paise, or `default`
    #[arg(long, value_name = "PAISE")]
    whatsapp_price_paise: Option<OrDefault<u32>>,
    /// Price of one code over SMS in paise, or `default`
    #[arg(long, value_name = "PAISE")]
    sms_price_paise: Option<OrDefault<u32>>,
    /// Providers over WhatsApp in order, separated by commas; `none` skips WhatsApp; or `default`
    #[arg(long, value_name = "NAMES")]
    whatsapp_providers: Option<OrDefault<Names>>,
    /// Providers over SMS in order, separated by commas; `none` skips SMS; or `default`
    #[arg(long, value_name = "NAMES")]
    sms_providers: Option<OrDefault<Names>>,
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
    #[arg(long, value_name = "RUPEES")]
    low_balance_rupees: Option<OrDefault<Rupees>>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Switch {
    On,
    Off,
}

/// A value of the project's own, or the word `default`.
#[derive(Clone)]
struct OrDefault<T>(Option<T>);

impl<T: FromStr> FromStr for OrDefault<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "default" { Ok(Self(None)) } else { text.parse().map(|own| Self(Some(own))) }
    }
}

/// Names separated by commas, or `none`.
#[derive(Clone)]
struct Names(Vec<String>);

impl FromStr for Names {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names = if text == "none" { Vec::new() } else { crate::config::names(text) };
        Ok(Self(names))
    }
}

#[derive(Clone)]
struct Rupees(Paise);

impl FromStr for Rupees {
    type Err = dwar_wallet::InvalidAmount;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Paise::from_rupees(text).map(Self)
    }
}

impl Settings {
    /// What is to change of `before`; checked, so that no send finds out that it cannot work.
    pub fn change(self, before: &Project, providers: &Available) -> Result<ProjectChange, Failure> {
        let on = |switch: Switch| switch == Switch::On;
        let price = |own: OrDefault<u32>| own.0.map(|paise| Paise(paise.into()));
        let (messages, routing) = (self.messages(before), self.routing(before, providers)?);
        let change = ProjectChange {
            name: self.name.map(named).transpose()?,
            identity_lookup: self.identity_lookup.map(on),
            identity_delete: self.identity_delete.map(on),
            whatsapp_price: self.whatsapp_price_paise.map(price),
            sms_price: self.sms_price_paise.map(price),
            messages,
            routing,
            low_balance: self.low_balance_rupees.map(|own| own.0.map(|rupees| rupees.0)),
        };
        let mut after = before.clone();
        after.apply(change.clone());
        sms_text_of(&after).map_err(|cause| Failure(cause.to_string()))?;
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
            *setting = own.as_ref().map(|names| names.0.clone());
            let objection = providers.objection(channel, setting.as_deref().unwrap_or_default());
            if let Some(objection) = objection {
                return Err(Failure(objection));
            }
        }
        if let Some(OrDefault(own)) = self.fallback_seconds {
            routing.fallback_seconds = own;
        }
        Ok(Some(routing).filter(|routing| *routing != before.routing))
    }
}
