//! What `dwar project set` can change.

use crate::config;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dwar_kernel::{FixedClaims, InvalidClaims};
use dwar_project::ProjectChange;
use dwar_wallet::{Amount, InvalidAmount, Paise};
use std::convert::Infallible;
use std::str::FromStr;

#[derive(Args)]
#[group(required = true, multiple = true, id = "settings")]
pub struct Settings {
    /// Name
    #[arg(long)]
    name: Option<String>,
    /// Allow GET /v1/identity
    #[arg(long, value_name = "on|off", value_parser = switch())]
    identity_lookup: Option<bool>,
    /// Allow DELETE /v1/identity
    #[arg(long, value_name = "on|off", value_parser = switch())]
    identity_delete: Option<bool>,
    /// Allow POST /v1/otp/relay with the live key
    #[arg(long, value_name = "on|off", value_parser = switch())]
    relay_live: Option<bool>,
    /// Allow POST /v1/otp/relay with the test key
    #[arg(long, value_name = "on|off", value_parser = switch())]
    relay_test: Option<bool>,
    /// Have live tokens name an issuer of the project's own, which other systems can verify by discovery
    #[arg(long, value_name = "on|off", value_parser = switch())]
    own_issuer: Option<bool>,
    /// Claims of these tokens, NAME=VALUE separated by commas; or `none`
    #[arg(long, value_name = "CLAIMS", value_parser = claims)]
    token_claims: Option<FixedClaims>,
    /// Price per code by WhatsApp in paise, or `default`
    #[arg(long, value_name = "PAISE")]
    whatsapp_price_paise: Option<OrDefault<i64>>,
    /// Price per code by SMS in paise, or `default`
    #[arg(long, value_name = "PAISE")]
    sms_price_paise: Option<OrDefault<i64>>,
    /// WhatsApp providers in order, separated by commas; `none` skips WhatsApp; or `default`
    #[arg(long, value_name = "NAMES", value_parser = names)]
    whatsapp_providers: Option<OrDefault<Vec<String>>>,
    /// SMS providers in order, separated by commas; `none` skips SMS; or `default`
    #[arg(long, value_name = "NAMES", value_parser = names)]
    sms_providers: Option<OrDefault<Vec<String>>>,
    /// Fall back to SMS after this many seconds without a receipt; 0 means never; or `default`
    #[arg(long, value_name = "SECONDS")]
    fallback_seconds: Option<OrDefault<u32>>,
    /// Brand name in messages, at most 30 characters, or `default`
    #[arg(long)]
    brand: Option<OrDefault<String>>,
    /// Language of the messages, such as en or hi, or `default`
    #[arg(long, value_name = "TAG")]
    language: Option<OrDefault<String>>,
    /// SMS text with {code}, {brand} and {minutes}, or `default`
    #[arg(long, value_name = "TEXT")]
    sms_text: Option<OrDefault<String>>,
    /// ID of the registered DLT content template, or `default`
    #[arg(long, value_name = "ID")]
    sms_template_id: Option<OrDefault<String>>,
    /// Site whose pages can read the code (WebOTP), or `default` for none
    #[arg(long, value_name = "HOST")]
    webotp_domain: Option<OrDefault<String>>,
    /// Hash of the Android app that can read the code, or `default` for none
    #[arg(long, value_name = "HASH")]
    app_hash: Option<OrDefault<String>>,
    /// Other domains and app hashes that a send may name, separated by commas; or `none`
    #[arg(long, value_name = "LINES", value_parser = lines)]
    last_lines: Option<Names>,
    /// Send the event wallet.low below this balance; `default` for no alert
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

/// Names separated by commas.
#[derive(Clone)]
struct Names(Vec<String>);

/// As [`Names`], or `none`.
fn lines(text: &str) -> Result<Names, Infallible> {
    Ok(Names(if text == "none" { Vec::new() } else { config::names(text) }))
}

fn names(text: &str) -> Result<OrDefault<Vec<String>>, Infallible> {
    OrDefault::read(text, |text| lines(text).map(|Names(names)| names))
}

/// `name=value` separated by commas, or `none`.
fn claims(text: &str) -> Result<FixedClaims, InvalidClaims> {
    let lines = if text == "none" { String::new() } else { text.replace(',', "\n") };
    lines.parse()
}

fn rupees(text: &str) -> Result<OrDefault<Paise>, InvalidAmount> {
    OrDefault::read(text, |text| Amount::from_rupees(text).map(Amount::paise))
}

impl From<Settings> for ProjectChange {
    fn from(given: Settings) -> Self {
        fn own<T>(given: Option<OrDefault<T>>) -> Option<Option<T>> {
            given.map(|OrDefault(own)| own)
        }
        let price = |given| own(given).map(|own| own.map(Paise));
        Self {
            name: given.name,
            identity_lookup: given.identity_lookup,
            identity_delete: given.identity_delete,
            relay_live: given.relay_live,
            relay_test: given.relay_test,
            own_issuer: given.own_issuer,
            token_claims: given.token_claims,
            whatsapp_price: price(given.whatsapp_price_paise),
            sms_price: price(given.sms_price_paise),
            brand: own(given.brand),
            language: own(given.language),
            sms_text: own(given.sms_text),
            sms_template_id: own(given.sms_template_id),
            webotp_domain: own(given.webotp_domain),
            app_hash: own(given.app_hash),
            last_lines: given.last_lines.map(|Names(lines)| lines),
            whatsapp_providers: own(given.whatsapp_providers),
            sms_providers: own(given.sms_providers),
            fallback_seconds: own(given.fallback_seconds),
            low_balance: own(given.low_balance_rupees),
        }
    }
}
