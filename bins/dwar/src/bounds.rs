//! What production refuses: each rule once, with its reason. `docs/operations/production.md` lists the same
//! rows; a test holds the two together.

pub mod database_url;
mod rules;

use crate::config::{Config, ConfigError, RunMode, invalid};
use std::net::ToSocketAddrs;

pub use rules::RULES;

/// The values of a number that production takes.
pub struct Bound {
    pub key: &'static str,
    pub least: u64,
    pub most: u64,
    pub reason: &'static str,
    /// Whether nothing could work if it were 0, so that development refuses that too.
    pub positive: bool,
}

/// Something other than a number that production checks.
pub struct Rule {
    pub key: &'static str,
    /// What is asked for, as the docs say it.
    pub asked: &'static str,
    pub reason: &'static str,
    /// How the configuration breaks it, as the end of a sentence that never holds a secret.
    pub broken: fn(&Config) -> Option<String>,
}

const fn bound(key: &'static str, least: u64, most: u64, reason: &'static str) -> Bound {
    Bound { key, least, most, reason, positive: false }
}

const fn positive(key: &'static str, least: u64, most: u64, reason: &'static str) -> Bound {
    Bound { positive: true, ..bound(key, least, most, reason) }
}

const SLOW: &str = "a client or server that never answers would hold its place forever";
const LOAD: &str = "more than one machine can handle";
const PLACE: &str = "a window too short or an allowance too wide is no limit";

/// Every number of the configuration.
#[rustfmt::skip]
pub const NUMBERS: &[Bound] = &[
    bound("http.workers", 0, 256, LOAD),
    bound("http.max_connections", 1, 100_000, LOAD),
    bound("http.client_timeout_seconds", 1, 30, SLOW),
    positive("database.connections", 1, 500, LOAD),
    positive("database.timeout_ms", 100, 30_000, SLOW),
    bound("database.min_free_mb", 0, 1_048_576, "keeping more than a terabyte free is a typing mistake"),
    positive("session.access_seconds", 60, 3_600, "backends that check tokens locally accept one until it expires, even after a logout"),
    positive("session.refresh_seconds", 3_600, 15_552_000, "a lost device stays logged in for that long; half a year at most"),
    positive("session.session_seconds", 3_600, 31_622_400, "people prove their phone number at least once a year"),
    bound("session.leeway_seconds", 0, 60, "a stolen refresh token used within it is not noticed"),
    bound("tokens.publish_before_seconds", 600, 604_800, "verifiers cache the key set for 300 s, so a new key has to be published twice as long before it signs"),
    positive("otp.lifetime_seconds", 60, 900, "the longer a code lives, the longer it can be guessed, read from a lock screen or talked out of its owner"),
    bound("limits.live.send", 1, 10, "each code buys its guesses and a message to the phone's owner"),
    positive("limits.live.send_window_seconds", 300, 86_400, PLACE),
    bound("limits.live.send_reach", 1, 100, PLACE),
    positive("limits.live.verify_attempts", 1, 10, "a code has a million possible values, and each attempt tries one"),
    bound("limits.live.validate_per_minute", 1, 10_000_000, LOAD),
    bound("limits.live.general_per_minute", 1, 10_000_000, LOAD),
    bound("limits.live.sends_per_minute", 0, 10_000_000, LOAD),
    bound("limits.live.verifies_per_minute", 0, 10_000_000, LOAD),
    bound("limits.test.send", 1, 100, PLACE),
    positive("limits.test.send_window_seconds", 60, 86_400, PLACE),
    bound("limits.test.send_reach", 0, 1_000, PLACE),
    positive("limits.test.verify_attempts", 1, 100, PLACE),
    bound("limits.test.validate_per_minute", 1, 10_000_000, LOAD),
    bound("limits.test.general_per_minute", 1, 10_000_000, LOAD),
    bound("limits.test.sends_per_minute", 0, 10_000_000, LOAD),
    bound("limits.test.verifies_per_minute", 0, 10_000_000, LOAD),
    bound("limits.guesses.slow_from", 1, 100, GUESSES),
    bound("limits.guesses.slow_seconds", 60, 86_400, GUESSES),
    bound("limits.guesses.slower_from", 1, 200, GUESSES),
    bound("limits.guesses.slower_seconds", 600, 604_800, GUESSES),
    bound("limits.guesses.stop_at", 1, 300, GUESSES),
    bound("limits.guesses.stop_seconds", 3_600, 2_592_000, GUESSES),
    bound("limits.guesses.stop_pace_seconds", 3_600, 2_592_000, GUESSES),
    positive("limits.guesses.period_seconds", 604_800, 31_622_400, GUESSES),
    positive("gateways.call_timeout_ms", 500, 30_000, SLOW),
    bound("gateways.fallback_window_seconds", 0, 300, "the SMS has to come while its code is good"),
    bound("gateways.breaker_faults", 1, 1_000, "a provider that is down costs every send its time-out until then"),
    positive("gateways.calls_at_once", 1, 100_000, LOAD),
    bound("prices.whatsapp_paise", 0, 10_000, "₹100 for a message is a slip of the pen"),
    bound("prices.sms_paise", 0, 10_000, "₹100 for a message is a slip of the pen"),
    bound("retention.requests_hours", 1, 720, "requests hold sealed phone numbers"),
    bound("retention.audit_days", 30, 3_660, "the audit log says who changed what, and that is asked for late"),
    bound("retention.test_records", 0, 10_000_000, "what test keys leave behind is of no further use"),
];

/// What tokens are issued by where nobody says.
const ISSUER: &str = dwar_defaults::text("tokens", "issuer");
const GUESSES: &str =
    "without it, or with more, an attacker who keeps asking for codes will guess one";

/// Everything in `config` that production refuses, each as one sentence with its key, what it is
/// (unless that is a secret), what is allowed, and why.
pub fn objections(config: &Config) -> Vec<String> {
    let number = |key| config.numbers.get(key).copied();
    let numbers = NUMBERS.iter().filter_map(|bound| bound.objection(number(bound.key)));
    let rules = RULES.iter().filter_map(|rule| {
        let problem = (rule.broken)(config)?;
        let Rule { key, asked, reason, .. } = rule;
        Some(format!("{key}: {problem} (production takes {asked}); {reason}"))
    });
    numbers.chain(rules).collect()
}

/// What production accepts but is still worth knowing, a sentence each.
pub fn remarks(config: &Config) -> impl Iterator<Item = String> {
    let database = database_url::remark(config.database.url.expose());
    let nameless = config.environment == RunMode::Production && config.tokens.issuer == ISSUER;
    let issuer = "tokens.issuer: \"dwar\", the default, names no service: it is in every token, \
                  and to change it later ends them all; set the address that your services know \
                  this one by";
    database.into_iter().chain(nameless.then(|| issuer.to_owned()))
}

impl Bound {
    /// `None` for a number within the bound.
    fn objection(&self, found: Option<u64>) -> Option<String> {
        let Self { key, least, most, reason, .. } = self;
        match found {
            Some(value) if (*least..=*most).contains(&value) => None,
            Some(value) if value < *least => {
                Some(format!("{key}: {value} is less than the minimum, {least}; {reason}"))
            }
            Some(value) => {
                Some(format!("{key}: {value} is more than the maximum, {most}; {reason}"))
            }
            None => Some(format!("{key}: is not between {least} and {most}; {reason}")),
        }
    }
}

/// Development prints codes and hands out keys: on an address that others reach it has to be asked
/// for twice.
pub fn refuse_exposed_development(config: &Config) -> Result<(), ConfigError> {
    if config.environment == RunMode::Production || config.http.allow_public_development {
        return Ok(());
    }
    let dashboard = config.dashboard.address(false).map(|own| ("dashboard.address", own));
    let all = [("http.address", config.http.address.as_str())].into_iter().chain(dashboard);
    // An address that cannot be resolved cannot be listened on either; that is reported there.
    let exposed = |(_, address): &(&str, &str)| {
        let mut all = address.to_socket_addrs().into_iter().flatten();
        all.any(|address| !address.ip().to_canonical().is_loopback())
    };
    let Some((key, address)) = all.into_iter().find(exposed) else { return Ok(()) };
    let problem = format!(
        "{address} can be reached from other machines, and development prints codes and hands out \
         keys: listen on 127.0.0.1, set environment = \"production\", or, in a container whose \
         port is published to this machine alone, say so with \
         http.allow_public_development = true (DWAR__HTTP__ALLOW_PUBLIC_DEVELOPMENT)"
    );
    Err(invalid(key, problem))
}

#[cfg(test)]
#[path = "bounds_tests.rs"]
mod tests;
