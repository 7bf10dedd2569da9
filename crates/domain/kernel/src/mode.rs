use crate::{ProjectId, words};
use std::str::FromStr;

words! {
    /// Mode of an API key. The data of the two modes is separate.
    KeyMode {
        /// Real delivery, charged.
        Live = "live",
        /// The sandbox: nothing is sent, nothing is charged.
        Test = "test",
    }
}

impl KeyMode {
    /// Whether this is test mode, in which nothing is sent or charged.
    pub const fn is_test(self) -> bool {
        matches!(self, Self::Test)
    }
}

/// One mode of one project. Data of one mode is invisible from the other mode and from other projects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectMode {
    pub project: ProjectId,
    pub mode: KeyMode,
}

impl ProjectId {
    /// This project in `mode`, as ports take it.
    pub const fn in_mode(self, mode: KeyMode) -> ProjectMode {
        ProjectMode { project: self, mode }
    }
}

/// Parse error: the text is neither `live` nor `test`.
#[derive(Debug, thiserror::Error)]
#[error("a key mode is live or test")]
pub struct UnknownMode;

impl FromStr for KeyMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_word(text).ok_or(UnknownMode)
    }
}
