use serde::Deserialize;
use std::fmt;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A secret of the configuration; neither `Debug` nor a log shows it, and dropping it wipes it.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Takes a secret in.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(Zeroizing::new(secret.into()))
    }

    /// The text itself, for code that calls with it or checks it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it was left empty: there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether `candidate` is this secret, in time that tells at most its length. An empty secret,
    /// one that was never configured, matches nothing.
    pub(crate) fn matches(&self, candidate: &str) -> bool {
        !self.is_empty() && bool::from(self.0.as_bytes().ct_eq(candidate.as_bytes()))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_itself_alone_and_never_when_empty() {
        let secret = Secret::new("open sesame");
        assert!(secret.matches("open sesame"));
        for other in ["", "open sesam", "open sesame ", "Open sesame"] {
            assert!(!secret.matches(other), "{other:?}");
        }
        assert!(!Secret::new("").matches(""));
    }

    #[test]
    fn hides_itself_from_debug() {
        assert_eq!(format!("{:?}", Secret::new("open sesame")), "Secret(…)");
    }
}
