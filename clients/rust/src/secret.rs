use std::fmt;

use serde::Deserialize;

/// A key, a code or a token: printed it is `[secret]`, and [`reveal`](Secret::reveal) gives its text.
///
/// It cannot be serialized, so that no answer is logged or passed on with a token in it by mistake.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// The text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[secret]")
    }
}
