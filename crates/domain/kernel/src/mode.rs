use crate::{ProjectId, words};
use std::str::FromStr;

words! {
    /// Which of a project's two separate worlds a key opens.
    KeyMode {
        /// Real delivery, charged.
        Live = "live",
        /// The sandbox: nothing is sent, nothing is charged.
        Test = "test",
    }
}

impl KeyMode {
    /// Whether this is the sandbox's world.
    pub const fn is_test(self) -> bool {
        matches!(self, Self::Test)
    }
}

/// One of a project's two worlds: nothing in it is seen from the other, nor by another project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectMode {
    pub project: ProjectId,
    pub mode: KeyMode,
}

impl ProjectId {
    /// The world that this project has in `mode`.
    pub const fn in_mode(self, mode: KeyMode) -> ProjectMode {
        ProjectMode { project: self, mode }
    }
}

/// The text names neither mode.
#[derive(Debug, thiserror::Error)]
#[error("a key mode is live or test")]
pub struct UnknownMode;

impl FromStr for KeyMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::from_word(text).ok_or(UnknownMode)
    }
}
