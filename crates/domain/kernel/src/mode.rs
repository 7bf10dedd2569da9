use std::fmt;
use std::str::FromStr;

/// Which of a project's two separate worlds a key opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyMode {
    /// Real delivery, charged.
    Live,
    /// The sandbox: nothing is sent, nothing is charged.
    Test,
}

impl KeyMode {
    /// `live` or `test`, as in key prefixes, claims and tables.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Test => "test",
        }
    }

    /// Whether this is the sandbox's world.
    pub const fn is_test(self) -> bool {
        matches!(self, Self::Test)
    }
}

impl fmt::Display for KeyMode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The text was neither `live` nor `test`.
#[derive(Debug, thiserror::Error)]
#[error("a key mode is live or test")]
pub struct UnknownMode;

impl FromStr for KeyMode {
    type Err = UnknownMode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "live" => Ok(Self::Live),
            "test" => Ok(Self::Test),
            _ => Err(UnknownMode),
        }
    }
}
