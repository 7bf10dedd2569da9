//! Addresses in the configuration: ours and the providers'.

use crate::config::{Config, ConfigError, RunMode, invalid};
use dwar_gateways::{BaseUrl, InvalidBaseUrl};

/// Where a provider is called. Credentials and codes go encrypted, unless they stay on this
/// machine.
///
/// # Errors
/// It cannot be read, or calls would leave this machine unencrypted.
pub fn base_url(key: &'static str, text: &str) -> Result<BaseUrl, ConfigError> {
    let url = read(key, text)?;
    if url.is_private() {
        Ok(url)
    } else {
        Err(invalid(key, "calls would go unencrypted: it begins with https://"))
    }
}

/// Where the world reaches this service; `None` if that is not configured.
///
/// # Errors
/// It cannot be read, or production would be reached unencrypted from another machine: tokens of
/// webhooks would travel in the clear.
pub fn public_url(config: &Config) -> Result<Option<BaseUrl>, ConfigError> {
    const KEY: &str = "gateways.public_url";
    let text = config.gateways.public_url.as_str();
    match config.environment {
        _ if text.is_empty() => Ok(None),
        RunMode::Production => base_url(KEY, text).map(Some),
        RunMode::Development => read(KEY, text).map(Some),
    }
}

fn read(key: &'static str, text: &str) -> Result<BaseUrl, ConfigError> {
    text.parse().map_err(|cause: InvalidBaseUrl| invalid(key, cause.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    fn public(environment: &str, text: &str) -> Result<Option<String>, String> {
        let mut config = config::load(None, [("", ""); 0]).map_err(|cause| cause.to_string())?;
        config.environment = match environment {
            "production" => RunMode::Production,
            _ => RunMode::Development,
        };
        config.gateways.public_url = text.to_owned();
        let url = public_url(&config).map_err(|cause| cause.to_string())?;
        Ok(url.map(|url| url.to_string()))
    }

    #[test]
    fn the_public_address_is_read_and_kept_without_a_slash() {
        for environment in ["development", "production"] {
            assert_eq!(public(environment, ""), Ok(None));
            let kept = Some("https://otp.example.com".to_owned());
            assert_eq!(public(environment, "https://otp.example.com/"), Ok(kept));
            for (wrong, why) in [
                ("ftp://x", "gateways.public_url: it begins with https:// or http://"),
                ("https://u:pw@x", "gateways.public_url: it must name no user and no password"),
                ("https://x/?a", "gateways.public_url: it must have no query and no fragment"),
            ] {
                assert_eq!(public(environment, wrong), Err(why.to_owned()));
            }
        }
    }

    #[test]
    fn production_is_reached_encrypted_or_from_this_machine() {
        let plain = "http://otp.example.com";
        assert_eq!(public("development", plain), Ok(Some(plain.to_owned())));
        let why = "gateways.public_url: calls would go unencrypted: it begins with https://";
        assert_eq!(public("production", plain), Err(why.to_owned()));
        assert!(public("production", "http://127.0.0.1:8080").is_ok());
        let fake = base_url("gateways.twilio.base_url", "http://localhost:x@evil.example");
        let fake = fake.unwrap_err().to_string();
        assert_eq!(fake, "gateways.twilio.base_url: it must name no user and no password");
    }
}
