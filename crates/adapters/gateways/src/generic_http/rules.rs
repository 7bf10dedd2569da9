use super::settings::GenericRule;
use crate::wire::word_at;
use dwar_otp::Reason;
use serde_json::Value;

/// Words that are compared without regard to ASCII case; at least one.
pub(super) struct Words(Vec<String>);

impl Words {
    pub(super) fn new(words: &[String]) -> Option<Self> {
        (!words.is_empty()).then(|| Self(words.to_vec()))
    }

    pub(super) fn contain(&self, word: &str) -> bool {
        self.0.iter().any(|known| known.eq_ignore_ascii_case(word))
    }
}

/// A sign of a failure and what it means.
pub(super) struct Rule {
    status: Option<u16>,
    place: Option<(String, Words)>,
    reason: Reason,
}

impl Rule {
    /// Checks the rule at position `at` of a list; `pointer` is meant where it names none.
    ///
    /// # Errors
    /// The end of a sentence that starts with the list's key.
    pub(super) fn new(
        rule: &GenericRule,
        pointer: Option<&String>,
        at: usize,
    ) -> Result<Self, String> {
        let wrong = |what: &str| Err(format!("[{at}]: {what}"));
        let place = match (rule.pointer.as_ref().or(pointer), Words::new(&rule.values)) {
            (Some(pointer), Some(words)) if is_pointer(pointer) => Some((pointer.clone(), words)),
            (Some(_), Some(_)) => return wrong("pointer is a JSON pointer, such as /code"),
            (None, None) if rule.status.is_some() => None,
            (None, None) => return wrong("it needs a status, or a pointer with values"),
            _ => return wrong("pointer and values belong together"),
        };
        Ok(Self { status: rule.status, place, reason: rule.reason })
    }

    /// The reason, if every sign fits.
    pub(super) fn judge(&self, status: Option<u16>, document: &Value) -> Option<Reason> {
        let status_fits = self.status.is_none() || self.status == status;
        let place_fits = self.place.as_ref().is_none_or(|(pointer, words)| {
            word_at(document, pointer).is_some_and(|word| words.contain(&word))
        });
        (status_fits && place_fits).then_some(self.reason)
    }
}

/// Whether it is a JSON pointer (RFC 6901).
pub(super) fn is_pointer(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}
