//! The settings that production refuses: numbers outside the bounds of their sections, and other
//! rules, each with its reason. `docs/operations/production.md` lists the same rows; a test
//! compares the two.

pub mod database_url;
mod rules;

use crate::config::{Config, ConfigError, RunMode, invalid};
use dwar_app::Policies;
use dwar_kernel::bounds::Bound;
use std::net::ToSocketAddrs;

pub use rules::RULES;

/// A production rule about a setting that is not a number.
pub struct Rule {
    pub key: &'static str,
    /// The requirement, in the words of the docs.
    pub asked: &'static str,
    pub reason: &'static str,
    /// How the configuration breaks the rule, as the end of a sentence that never contains a
    /// secret; `None` if it complies.
    pub broken: fn(&Config) -> Option<String>,
}

/// Everything in `config` that production refuses. Each sentence names the key, its value (unless
/// that is a secret), the allowed values, and the reason.
pub fn objections(config: &Config) -> Vec<String> {
    let rules = RULES.iter().filter_map(|rule| {
        let problem = (rule.broken)(config)?;
        let Rule { key, asked, reason, .. } = rule;
        Some(format!("{key}: {problem} (production takes {asked}); {reason}"))
    });
    config.numbers().filter_map(objection).chain(rules).collect()
}

/// Settings that production accepts but that are worth knowing, one sentence each.
pub fn remarks(config: &Config) -> impl Iterator<Item = String> {
    let database = database_url::remark(config.database.url.expose());
    let nameless = config.environment == RunMode::Production
        && config.tokens.issuer == Policies::default().issuer;
    let issuer = "tokens.issuer: \"dwar\", the default, names no service: it is in every token, \
                  and to change it later ends them all; set the address that your services know \
                  this one by";
    database.into_iter().chain(nameless.then(|| issuer.to_owned()))
}

/// The objection to a number; `None` if production accepts it.
fn objection((key, value, Bound { takes, reason, .. }): (String, u64, Bound)) -> Option<String> {
    let (than, limit) = match value {
        _ if takes.contains(&value) => return None,
        _ if value < *takes.start() => ("less than the minimum", takes.start()),
        _ => ("more than the maximum", takes.end()),
    };
    Some(format!("{key}: {value} is {than}, {limit}; {reason}"))
}

/// Development prints codes and API keys, so listening on an address that others can reach has to
/// be confirmed by a second setting.
pub fn refuse_exposed_development(config: &Config) -> Result<(), ConfigError> {
    if config.environment == RunMode::Production || config.http.allow_public_development {
        return Ok(());
    }
    let dashboard = config.dashboard.address(false).map(|own| ("dashboard.address", own));
    let all = [("http.address", config.http.address.as_str())].into_iter().chain(dashboard);
    // An address that cannot be resolved cannot be bound either, which is reported there.
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
