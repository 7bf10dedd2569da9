use serde::Deserialize;
use std::fmt;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// A secret of the configuration. Neither `Debug` nor a log shows it, and dropping it wipes it.
#[derive(Clone, Default, Deserialize)]
#[serde(transparent)]
pub struct Secret(Zeroizing<String>);

impl Secret {
    /// Wraps the text of a secret; an empty text means that there is none.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(Zeroizing::new(secret.into()))
    }

    /// The text itself, for code that sends it or compares it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Tells whether the text is empty, so the secret was not configured.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Compares `candidate` with the secret, in time that reveals at most the secret's length. An
    /// empty secret, which was not configured, matches nothing.
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
