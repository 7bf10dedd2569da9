use std::fmt;
use std::str::FromStr;

const LONGEST: usize = 60;

/// Sign-in name of an operator: 1 to 60 letters of any script, digits, single blanks and `. - _ @ +`.
/// Surrounding blanks are removed; comparison ignores case.
#[derive(Clone, Debug)]
pub struct OperatorName(String);

/// Parse error: the text is empty, too long, or has other characters.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a name is 1 to 60 letters, digits, single blanks and . - _ @ +")]
pub struct InvalidName;

impl OperatorName {
    /// A name as a store kept it, even if it breaks a rule.
    pub const fn stored(text: String) -> Self {
        Self(text)
    }

    /// The name in its original spelling, without surrounding blanks.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Lower-case form, by which the name is looked up and unique.
    pub fn key(&self) -> String {
        self.0.to_lowercase()
    }
}

impl FromStr for OperatorName {
    type Err = InvalidName;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        // Indian scripts join letters by signs that are not letters themselves.
        let joined = |letter: char| ('\u{900}'..='\u{dff}').contains(&letter);
        let known =
            |letter: char| letter.is_alphanumeric() || joined(letter) || ".-_@+ ".contains(letter);
        let fits = (1..=LONGEST).contains(&text.chars().count()) && text.chars().all(known);
        if fits && !text.contains("  ") { Ok(Self(text.to_owned())) } else { Err(InvalidName) }
    }
}

impl PartialEq for OperatorName {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for OperatorName {}

impl fmt::Display for OperatorName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_whatever_the_case() {
        let name: OperatorName = "Asha Rao".parse().unwrap();
        assert_eq!(name, "asha RAO".parse().unwrap());
        assert_eq!((name.as_str(), name.key().as_str()), ("Asha Rao", "asha rao"));
    }

    #[test]
    fn names_that_mislead_are_refused() {
        for good in ["a", "asha@example.com", "प्रिया", &"x".repeat(60)] {
            assert!(good.parse::<OperatorName>().is_ok(), "{good}");
        }
        assert_eq!(" asha\u{a0}\n".parse::<OperatorName>().unwrap().as_str(), "asha");
        for bad in ["", " ", "a  b", "a\nb", "a\u{202e}b", "<b>", &"x".repeat(61)] {
            assert!(bad.parse::<OperatorName>().is_err(), "{bad:?}");
        }
    }
}
