use serde::Deserialize;
use std::fmt;
use zeroize::Zeroizing;

/// A configured text that is never printed, and wiped when it is dropped.
#[derive(Clone, Default, Deserialize)]
#[serde(from = "String")]
pub struct Secret(Zeroizing<String>);

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl Secret {
    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(if self.0.is_empty() { "(empty)" } else { "(hidden)" })
    }
}
