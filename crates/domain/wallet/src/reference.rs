use dwar_kernel::{EntryId, OtpId, is_line};
use std::fmt;
use std::str::FromStr;

/// What a movement is for: the id of a send, or an operator's own name for a payment. 1 to
/// [`Reference::LONGEST`] visible characters on one line, without surrounding blanks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reference(String);

/// Parse error: the text is empty, too long, or not on one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("1 to 200 visible characters on one line")]
pub struct InvalidReference;

impl Reference {
    /// In characters. Longer than any payment reference that banks pass on. Its 800 bytes at most fit into an
    /// index entry, which PostgreSQL limits to 2,704 bytes.
    pub const LONGEST: usize = 200;

    /// Reference of the opening balance of a project.
    pub fn opening_balance() -> Self {
        Self("opening balance".to_owned())
    }

    /// A reference as a store kept it, even if it breaks a rule.
    pub const fn stored(text: String) -> Self {
        Self(text)
    }

    /// The text as entered, without surrounding blanks.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Reference {
    type Err = InvalidReference;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if is_line(text, Self::LONGEST) { Ok(Self(text.to_owned())) } else { Err(InvalidReference) }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl From<OtpId> for Reference {
    fn from(send: OtpId) -> Self {
        Self(send.to_string())
    }
}

impl From<EntryId> for Reference {
    fn from(entry: EntryId) -> Self {
        Self(entry.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_one_bounded_visible_line() {
        let read = |text: &str| text.parse::<Reference>().map(|it| it.as_str().to_owned());
        assert_eq!(read(" UTR 4123 "), Ok("UTR 4123".to_owned()));
        let longest = "\u{10348}".repeat(Reference::LONGEST);
        assert!(read(&longest).is_ok_and(|it| it.len() == 800));
        for bad in ["", " ", "a\0b", "\0", "a\nb", &format!("{longest}x"), &"x".repeat(100_000)] {
            assert_eq!(read(bad), Err(InvalidReference), "{bad:?}");
        }
    }

    #[test]
    fn what_the_service_calls_movements_is_one() {
        let id = "01890000-0000-7000-8000-000000000001";
        let (send, entry): (OtpId, EntryId) = (id.parse().unwrap(), id.parse().unwrap());
        for own in [Reference::opening_balance(), send.into(), entry.into()] {
            assert_eq!(own.as_str().parse(), Ok(own));
        }
    }
}
