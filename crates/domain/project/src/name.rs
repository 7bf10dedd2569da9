use dwar_kernel::is_line;
use std::fmt;
use std::str::FromStr;

/// Display name of a project, also used in messages: 1 to 60 visible characters on one line, without
/// surrounding blanks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectName(String);

/// Parse error: the text is empty, too long, or not on one line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a project's name is 1 to 60 visible characters on one line")]
pub struct InvalidProjectName;

impl ProjectName {
    /// Most characters that a name may have.
    pub const LONGEST: usize = 60;

    /// Name of the project that Dwar creates in an empty database on a developer's machine.
    pub fn demo() -> Self {
        Self("Demo".to_owned())
    }

    /// The name as text, as messages and lists show it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ProjectName {
    type Err = InvalidProjectName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if is_line(text, Self::LONGEST) {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidProjectName)
        }
    }
}

impl fmt::Display for ProjectName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_visible_on_one_line_and_not_too_long() {
        for good in ["Chai & Co", "दुकान", &"x".repeat(60)] {
            assert!(good.parse::<ProjectName>().is_ok(), "{good}");
        }
        assert_eq!(" Chai \u{a0}".parse::<ProjectName>().unwrap().as_str(), "Chai");
        for bad in ["", "  ", "a\nb", "a\u{7}b", &"x".repeat(61)] {
            assert_eq!(bad.parse::<ProjectName>(), Err(InvalidProjectName), "{bad:?}");
        }
    }
}
