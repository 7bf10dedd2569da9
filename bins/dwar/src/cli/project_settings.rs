//! The settings of a project on the command line: the flags of `dwar project set`, and the lines of
//! `dwar project show`.

use crate::config;
use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgGroup, ArgMatches, Args, Command, FromArgMatches};
use dwar_kernel::{GuardMode, TokenType};
use dwar_project::{Project, ProjectChange, Setting, SettingValue};
use dwar_wallet::{Amount, Paise};
use std::error::Error;

struct Row {
    setting: Setting,
    flag: &'static str,
    takes: &'static str,
    about: &'static str,
    /// The label of the value in `project show`.
    label: &'static str,
    /// The text shown if the project has no value of its own.
    none: &'static str,
}

const ON_OFF: &str = "on|off";
const INSTALLED: &str = "installation default";

macro_rules! rows {
    ($($setting:ident: $label:literal or $none:expr, $flag:literal $takes:expr, $about:literal;)+) => {
        /// Every setting in the order of the listing.
        const ROWS: [Row; Setting::ALL.len()] = [$(Row {
            setting: Setting::$setting,
            flag: $flag,
            takes: $takes,
            about: $about,
            label: $label,
            none: $none,
        }),+];
    };
}

rows! {
    Name: "Project" or "", "name" "NAME",
        "Name";
    IdentityLookup: "Identity lookup" or "", "identity-lookup" ON_OFF,
        "Allow GET /v1/identity";
    IdentityDelete: "Identity deletion" or "", "identity-delete" ON_OFF,
        "Allow DELETE /v1/identity";
    RelayLive: "Relay, live key" or "", "relay-live" ON_OFF,
        "Allow POST /v1/otp/relay with the live key";
    RelayTest: "Relay, test key" or "", "relay-test" ON_OFF,
        "Allow POST /v1/otp/relay with the test key";
    EventsFeed: "Feed of events" or "", "events-feed" ON_OFF,
        "Keep events, and allow GET /v1/events";
    Guard: "Guard" or "", "guard" "off|watch|enforce",
        "Guard live sends against floods: count only, or ask visitors for a proof";
    OwnIssuer: "Own issuer" or "", "own-issuer" ON_OFF,
        "Use an issuer of the project's own in live tokens, which other systems can verify by \
         discovery";
    TokenClaims: "Token claims" or "none", "token-claims" "CLAIMS",
        "Additional claims of these tokens, NAME=VALUE separated by commas; or `none`";
    TokenType: "Token type" or "", "token-type" "at+jwt|JWT",
        "The typ of these tokens; JWT for verifiers that refuse at+jwt";
    WhatsappPrice: "WhatsApp price" or INSTALLED, "whatsapp-price-paise" "PAISE",
        "Price per code by WhatsApp in paise, or `default`";
    SmsPrice: "SMS price" or INSTALLED, "sms-price-paise" "PAISE",
        "Price per code by SMS in paise, or `default`";
    WhatsappProviders: "WhatsApp providers" or INSTALLED, "whatsapp-providers" "NAMES",
        "WhatsApp providers in order, separated by commas; `none` skips WhatsApp; or `default`";
    SmsProviders: "SMS providers" or INSTALLED, "sms-providers" "NAMES",
        "SMS providers in order, separated by commas; `none` skips SMS; or `default`";
    FallbackSeconds: "Fall back to SMS" or INSTALLED, "fallback-seconds" "SECONDS",
        "Fall back to SMS after this many seconds without a receipt; 0: only after a failure; or `default`";
    Brand: "Brand" or "name of the project", "brand" "BRAND",
        "Brand name in messages, at most 30 characters, or `default`";
    Language: "Language" or "en", "language" "TAG",
        "Language of the messages, such as en or hi, or `default`";
    SmsText: "SMS text" or "default of the language", "sms-text" "TEXT",
        "SMS text with {code}, {brand} and {minutes}, or `default`";
    SmsTemplateId: "SMS template ID" or INSTALLED, "sms-template-id" "ID",
        "ID of the registered DLT content template, or `default`";
    WebotpDomain: "WebOTP domain" or "none", "webotp-domain" "HOST",
        "Site whose pages can read the code (WebOTP), or `default` for none";
    AppHash: "Android app hash" or "none", "app-hash" "HASH",
        "Hash of the Android app that can read the code, or `default` for none";
    LastLines: "Other last lines" or "none", "last-lines" "LINES",
        "Other domains and app hashes that a send may name, separated by commas; or `none`";
    LowBalance: "Low balance alert" or "no alert", "low-balance-rupees" "RUPEES",
        "Send the event wallet.low below this balance; `default` for no alert";
    DailySpend: "Daily spend limit" or "no limit", "daily-spend-rupees" "RUPEES",
        "Refuse live sends beyond this spend per day (IST); `default` for no limit";
}

pub struct Settings(pub ProjectChange);

impl Args for Settings {
    fn augment_args(command: Command) -> Command {
        let args = ROWS.iter().map(|row| {
            let arg = Arg::new(row.flag).long(row.flag).value_name(row.takes).help(row.about);
            arg.value_parser(row.parser())
        });
        let flags = ROWS.iter().map(|row| row.flag);
        let any = ArgGroup::new("settings").args(flags).required(true).multiple(true);
        command.args(args).group(any)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Settings {
    fn from_arg_matches(given: &ArgMatches) -> Result<Self, clap::Error> {
        let mut change = ProjectChange::default();
        for row in &ROWS {
            if let Some(value) = given.get_one::<SettingValue>(row.flag) {
                change.set(row.setting, value.clone());
            }
        }
        Ok(Self(change))
    }

    fn update_from_arg_matches(&mut self, given: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(given)?;
        Ok(())
    }
}

impl Row {
    fn parser(&self) -> ValueParser {
        let (setting, takes) = (self.setting, self.takes);
        match setting.blank() {
            SettingValue::Switch(_) => {
                let words = PossibleValuesParser::new(["on", "off"]);
                words.map(|word| SettingValue::Switch(word == "on")).into()
            }
            SettingValue::TokenType(_) => {
                let words = PossibleValuesParser::new(TokenType::ALL.map(TokenType::as_str));
                words.try_map(|word| word.parse().map(SettingValue::TokenType)).into()
            }
            SettingValue::Guard(_) => {
                let words = PossibleValuesParser::new(GuardMode::ALL.map(GuardMode::as_str));
                words.try_map(|word| word.parse().map(SettingValue::Guard)).into()
            }
            blank => ValueParser::new(move |text: &str| read(&blank, takes == "RUPEES", text)),
        }
    }
}

/// Parses a value of the same kind as `blank`.
fn read(
    blank: &SettingValue,
    in_rupees: bool,
    text: &str,
) -> Result<SettingValue, Box<dyn Error + Send + Sync>> {
    let own = (text != "default").then_some(text);
    Ok(match blank {
        SettingValue::Switch(_) => SettingValue::Switch(text == "on"),
        SettingValue::Name(_) => SettingValue::Name(text.to_owned()),
        SettingValue::Text(_) => SettingValue::Text(own.map(str::to_owned)),
        SettingValue::Lines(_) => SettingValue::Lines(names(text)),
        SettingValue::Providers(_) => SettingValue::Providers(own.map(names)),
        SettingValue::Seconds(_) => SettingValue::Seconds(own.map(str::parse).transpose()?),
        SettingValue::Paise(_) if in_rupees => {
            SettingValue::Paise(own.map(Amount::from_rupees).transpose()?.map(Amount::paise))
        }
        SettingValue::Paise(_) => SettingValue::Paise(own.map(str::parse).transpose()?.map(Paise)),
        SettingValue::Claims(_) => {
            let lines = if text == "none" { String::new() } else { text.replace(',', "\n") };
            SettingValue::Claims(lines.parse()?)
        }
        SettingValue::TokenType(_) => SettingValue::TokenType(text.parse()?),
        SettingValue::Guard(_) => SettingValue::Guard(text.parse()?),
    })
}

/// Parses names separated by commas, or `none`.
fn names(text: &str) -> Vec<String> {
    if text == "none" { Vec::new() } else { config::names(text) }
}

/// Each setting with its label and its value, for people.
pub fn told(project: &Project) -> impl Iterator<Item = (Setting, &'static str, String)> {
    ROWS.iter().map(|row| {
        let value = tell(project.get(row.setting));
        let value = value.filter(|text| !text.is_empty()).unwrap_or_else(|| row.none.to_owned());
        (row.setting, row.label, value)
    })
}

/// A value in words; `None` for the installation's own.
fn tell(value: SettingValue) -> Option<String> {
    match value {
        SettingValue::Switch(on) => Some(if on { "on" } else { "off" }.to_owned()),
        SettingValue::Name(text) => Some(text),
        SettingValue::Text(own) => own,
        SettingValue::Lines(lines) => Some(lines.join(", ")),
        SettingValue::Providers(own) => own.map(|names| match names.as_slice() {
            [] => "none".to_owned(),
            names => names.join(", "),
        }),
        SettingValue::Seconds(own) => own.map(|seconds| match seconds {
            0 => "never".to_owned(),
            seconds => format!("after {seconds} s without a receipt"),
        }),
        SettingValue::Paise(own) => own.map(|paise| paise.to_string()),
        SettingValue::Claims(claims) => Some(claims.to_string().replace('\n', ", ")),
        SettingValue::TokenType(token_type) => Some(token_type.to_string()),
        SettingValue::Guard(mode) => Some(mode.to_string()),
    }
}
