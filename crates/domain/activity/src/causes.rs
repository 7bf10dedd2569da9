use dwar_kernel::{Reason, Refusal};
use std::collections::BTreeMap;

/// Why a message carried no code to a phone, or why there was no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    Failed(Reason),
    /// The send was refused before any provider was called.
    Refused(Refusal),
    NoProvider,
}

/// How many messages or sends each cause affected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Causes(BTreeMap<Cause, u64>);

const NO_PROVIDER: &str = "no_provider";

impl Cause {
    /// The word of the cause. No two causes have the same word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failed(reason) => reason.as_str(),
            Self::Refused(reason) => reason.as_str(),
            Self::NoProvider => NO_PROVIDER,
        }
    }

    /// The cause with this word; `None` for an unknown word.
    pub fn from_word(word: &str) -> Option<Self> {
        let failed = Reason::from_word(word).map(Self::Failed);
        let refused = || Refusal::from_word(word).map(Self::Refused);
        failed.or_else(refused).or_else(|| (word == NO_PROVIDER).then_some(Self::NoProvider))
    }

    /// All causes: failures, refusals, and a missing provider.
    pub fn all() -> impl Iterator<Item = Self> {
        let failed = Reason::ALL.into_iter().map(Self::Failed);
        failed.chain(Refusal::ALL.into_iter().map(Self::Refused)).chain([Self::NoProvider])
    }
}

impl Causes {
    /// Adds `more` occurrences of a cause; zero adds nothing.
    pub fn note(&mut self, cause: Cause, more: u64) {
        if more > 0 {
            let count = self.0.entry(cause).or_default();
            *count = count.saturating_add(more);
        }
    }

    /// Adds all occurrences of `other` to these.
    pub fn merge(&mut self, other: &Self) {
        other.each().for_each(|(cause, more)| self.note(cause, more));
    }

    /// The causes that occurred, with their numbers, in a fixed order.
    pub fn each(&self) -> impl Iterator<Item = (Cause, u64)> {
        self.0.iter().map(|(cause, count)| (*cause, *count))
    }

    /// Occurrences of one cause; zero if it never occurred.
    pub fn of(&self, cause: Cause) -> u64 {
        self.0.get(&cause).copied().unwrap_or_default()
    }

    /// Occurrences of all causes together; saturates instead of overflowing.
    pub fn sum(&self) -> u64 {
        self.each().fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Sends that were refused before any provider was called.
    pub fn refused(&self) -> u64 {
        let refused = self.each().filter(|(cause, _)| matches!(cause, Cause::Refused(_)));
        refused.fold(0, |sum, (_, count)| sum.saturating_add(count))
    }

    /// Stored form, one cause and number each: `balance 3,timeout 12`.
    pub fn to_text(&self) -> String {
        let each = self.each().map(|(cause, count)| format!("{} {count}", cause.as_str()));
        each.collect::<Vec<_>>().join(",")
    }

    /// Parses what [`Causes::to_text`] wrote; `None` for any other text.
    pub fn from_text(text: &str) -> Option<Self> {
        let mut causes = Self::default();
        for one in text.split(',').filter(|_| !text.is_empty()) {
            let (word, count) = one.split_once(' ')?;
            causes.note(Cause::from_word(word)?, count.parse().ok()?);
        }
        Some(causes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_cause_has_a_word_of_its_own() {
        let words: BTreeSet<_> = Cause::all().map(Cause::as_str).collect();
        assert_eq!(words.len(), Cause::all().count());
        Cause::all().for_each(|cause| assert_eq!(Cause::from_word(cause.as_str()), Some(cause)));
        assert_eq!(Cause::from_word("delivered"), None);
    }

    #[test]
    fn causes_are_read_as_they_were_written_and_nothing_else_is() {
        let mut causes = Causes::default();
        assert_eq!(
            (causes.to_text(), Causes::from_text("")),
            (String::new(), Some(causes.clone()))
        );
        causes.note(Cause::Refused(Refusal::Balance), 3);
        causes.note(Cause::Failed(Reason::Timeout), 12);
        causes.note(Cause::NoProvider, 0);
        causes.merge(&causes.clone());
        assert_eq!(causes.to_text(), "timeout 24,balance 6");
        assert_eq!(Causes::from_text("timeout 24,balance 6"), Some(causes.clone()));
        assert_eq!((causes.sum(), causes.refused()), (30, 6));
        for wrong in ["timeout", "timeout 1,", "timeout -1", "late 1", "timeout  1", ","] {
            assert_eq!(Causes::from_text(wrong), None, "{wrong:?}");
        }
    }
}
