//! Configuration, typed and checked. Its sources are the embedded defaults, a file, the environment and a file of
//! variables; each overrides the one before.

mod check;
mod env_file;
mod load;
mod sections;
mod sentences;
pub mod text;

#[cfg(test)]
pub use load::{DEFAULTS, holds_secret};
pub use load::{built_in, load};
pub use sections::{Database, Log, LogFormat, Secrets, Traces, count, unless_zero};
pub use sentences::toml_sentence;

use dwar_kernel::bounds::Bound;
use dwar_webhooks::WebhookSettings;
use sections::{LimitSections, Otp, Prices, Retention, Session, Tokens};
use serde::Deserialize;
use std::path::PathBuf;

/// The whole configuration; the meaning of each key is in `config.default.toml`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub environment: RunMode,
    pub demo: bool,
    pub http: dwar_http::Settings,
    pub dashboard: dwar_dashboard::Settings,
    pub database: Database,
    pub secrets: Secrets,
    pub session: Session,
    pub tokens: Tokens,
    pub otp: Otp,
    pub limits: LimitSections,
    pub gateways: dwar_gateways::Settings,
    pub prices: Prices,
    pub retention: Retention,
    pub events: WebhookSettings,
    pub log: Log,
    pub metrics: dwar_metrics::Settings,
    pub traces: Traces,
    /// Files, of settings or of variables, that set a secret. Other users should not be able to read them.
    #[serde(skip)]
    pub secret_files: Vec<PathBuf>,
    /// What production refuses, one sentence for each setting. Loading fails if production has any.
    #[serde(skip)]
    pub objections: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunMode {
    Development,
    Production,
}

impl Config {
    /// Every number by its key, in the order of `config.default.toml`: its value and its bounds.
    pub fn numbers(&self) -> impl Iterator<Item = (String, u64, Bound)> {
        let limits = &self.limits;
        let sections = [
            ("http", self.http.numbers()),
            ("database", self.database.numbers()),
            ("session", self.session.numbers()),
            ("tokens", self.tokens.numbers()),
            ("otp", self.otp.numbers()),
            ("limits.live", limits.live.numbers()),
            ("limits.test", limits.test.numbers()),
            ("limits.guesses", limits.guesses.numbers()),
            ("gateways", self.gateways.numbers()),
            ("prices", self.prices.numbers()),
            ("retention", self.retention.numbers()),
        ];
        sections.into_iter().flat_map(|(section, numbers)| {
            let keyed = move |(name, value, bound)| (format!("{section}.{name}"), value, bound);
            numbers.into_iter().map(keyed)
        })
    }
}

/// A configuration that cannot be used. The message says what to change.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("{origin}: there is no setting `{key}`{hint}")]
    UnknownKey { origin: String, key: String, hint: String },
    #[error("{0}")]
    Unreadable(String),
    #[error("{key}: {problem}")]
    Invalid { key: String, problem: String },
    #[error("production refuses\n  {}", .0.join("\n  "))]
    Unsafe(Vec<String>),
}

/// The names in a comma-separated list, without blanks around them.
pub fn names(list: &str) -> Vec<String> {
    list.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Makes a [`ConfigError::Invalid`] for one key.
pub fn invalid(key: impl Into<String>, problem: impl Into<String>) -> ConfigError {
    ConfigError::Invalid { key: key.into(), problem: problem.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from_env(pairs: &[(&str, &str)]) -> Result<Config, ConfigError> {
        load(
            None,
            None,
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())),
        )
    }

    #[test]
    fn the_defaults_are_those_that_the_docs_promise() {
        let config = from_env(&[]).unwrap();
        assert_eq!((config.limits.live.send, config.limits.test.send), (3, 20));
        assert_eq!(config.http.address, "127.0.0.1:8080");
        assert_eq!(config.database.url.expose(), "sqlite://dwar.db");
    }

    #[test]
    fn the_environment_wins_over_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("own.toml");
        std::fs::write(&file, "demo = false\n[http]\naddress = \"127.0.0.1:1\"\n").unwrap();
        let env = [("DWAR__HTTP__ADDRESS".to_owned(), "127.0.0.1:2".to_owned())];
        let config = load(Some(&file), None, env).unwrap();
        assert_eq!((config.demo, config.http.address.as_str()), (false, "127.0.0.1:2"));
    }

    #[test]
    fn a_misspelt_key_is_refused_with_the_nearest_one() {
        let refused = from_env(&[("DWAR__HTTP__ADRESS", "x")]).unwrap_err().to_string();
        insta::assert_snapshot!(refused, @"environment: there is no setting `http.adress`; did you mean `http.address`?");
        let refused = from_env(&[("DWAR__ZZZ", "x")]).unwrap_err().to_string();
        insta::assert_snapshot!(refused, @"environment: there is no setting `zzz`");
    }

    #[test]
    fn a_value_that_is_refused_is_reported_with_its_key() {
        for (name, value, key) in [
            ("DWAR__HTTP__WORKERS", "many", "http.workers"),
            ("DWAR__SESSION__ACCESS_SECONDS", "0", "session.access_seconds"),
            ("DWAR__GATEWAYS__PUBLIC_URL", "ftp://x", "gateways.public_url: it begins with https"),
            ("DWAR__TRACES__ENDPOINT", "localhost:4318", "traces.endpoint: it begins with https"),
            ("DWAR__TRACES__RATIO", "1.1", "traces.ratio: must be between 0 and 1"),
            ("DWAR__TRACES__RATIO", "nan", "traces.ratio: must be between 0 and 1"),
        ] {
            let refused = from_env(&[(name, value)]).unwrap_err().to_string();
            assert!(refused.contains(key), "{refused}");
        }
    }

    #[test]
    fn secrets_stay_out_of_debug_and_keep_their_digits() {
        let digits = "1".repeat(64);
        let config = from_env(&[("DWAR__SECRETS__MASTER_KEY", &digits)]).unwrap();
        assert_eq!(config.secrets.master_key.expose(), digits);
        assert!(!format!("{config:?}").contains(&digits));
    }
}
