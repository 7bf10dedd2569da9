use dwar_kernel::is_line;
use std::fmt;
use std::str::FromStr;

/// What a person calls a project. It appears in messages: something visible, on one line, not too
/// long, without blanks around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectName(String);

/// The text is not a name for a project.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a project's name is 1 to 60 visible characters on one line")]
pub struct InvalidProjectName;

impl ProjectName {
    /// How many characters it may have.
    pub const LONGEST: usize = 60;

    /// The name of the project that an empty database begins with on a developer's machine.
    pub fn demo() -> Self {
        Self("Demo".to_owned())
    }

    /// As it was written.
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
