use crate::words;
use std::str::FromStr;

words! {
    /// What the guard of a project does during a flood of sends (docs/guard.md).
    GuardMode {
        /// Nothing is counted.
        Off = "off",
        /// Everything is counted and shown, and nothing is refused.
        Watch = "watch",
        /// A send of an exhausted address, series or project is refused until the visitor gives a proof.
        Enforce = "enforce",
    }
}

words! {
    /// What has a level of the guard.
    GuardSubjectKind {
        /// The address of a visitor: one of IPv4, or the first 56 bits of one of IPv6.
        Address = "address",
        /// The numbers with the same first six digits.
        Series = "series",
        Project = "project",
    }
}

/// A project is not guarded until an operator switches its guard on.
impl Default for GuardMode {
    fn default() -> Self {
        Self::Off
    }
}

/// Parse error: the text names no mode of the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("off, watch or enforce")]
pub struct UnknownGuardMode;

impl FromStr for GuardMode {
    type Err = UnknownGuardMode;

    fn from_str(text: &str) -> Result<Self, UnknownGuardMode> {
        Self::from_word(text).ok_or(UnknownGuardMode)
    }
}
