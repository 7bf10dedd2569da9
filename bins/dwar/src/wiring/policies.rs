//! Configuration in the words of the use cases.

use crate::config::{Config, ConfigError, invalid};
use dwar_app::Policies;

/// Everything the use cases go by.
pub fn all(config: &Config) -> Result<Policies, ConfigError> {
    let algorithm = config.tokens.algorithm.parse();
    let algorithm =
        algorithm.map_err(|_| invalid("tokens.algorithm", "is ES256, EdDSA or RS256"))?;
    let number = |key: &str| config.numbers.get(key).copied().unwrap_or_default();
    Ok(Policies::of(number, algorithm, config.tokens.issuer.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    /// Tests that use them get what an unconfigured service has.
    #[test]
    fn the_policies_of_testkit_are_those_of_the_defaults() {
        let config = config::load(None, None, std::iter::empty::<(String, String)>()).unwrap();
        let (ours, theirs) = (all(&config).unwrap(), dwar_testkit::policies());
        assert_eq!(format!("{ours:#?}"), format!("{theirs:#?}"));
    }
}
