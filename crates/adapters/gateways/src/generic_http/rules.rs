use super::settings::{GenericAnswer, GenericMatch, GenericRule};
use crate::http_client::Answer;
use crate::wire::word_at;
use dwar_otp::Reason;
use serde_json::Value;

impl GenericAnswer {
    /// # Errors
    /// A sentence that names the key and the problem.
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("answer.{what}"));
        if let Some(GenericMatch { pointer, values }) = &self.success {
            if !is_pointer(pointer) {
                return wrong("success: pointer is a JSON pointer, such as /ok");
            }
            if values.is_empty() {
                return wrong("success: it needs values");
            }
        }
        if self.reference.as_deref().is_some_and(|pointer| !is_pointer(pointer)) {
            return wrong("reference: it is a JSON pointer, such as /id");
        }
        check("answer.reasons", &self.reasons)
    }

    pub(super) fn says_success(&self, answer: &Answer) -> bool {
        let status_fits = if self.statuses.is_empty() {
            answer.status.is_success()
        } else {
            self.statuses.contains(&answer.status.as_u16())
        };
        let matches = |it: &GenericMatch| matches_at(&answer.body, &it.pointer, &it.values);
        status_fits && self.success.as_ref().is_none_or(matches)
    }

    /// The reason of the first rule that matches.
    pub(super) fn reason(&self, answer: &Answer) -> Option<Reason> {
        let status = Some(answer.status.as_u16());
        self.reasons.iter().find_map(|rule| rule.judge(status, &answer.body))
    }
}

impl GenericRule {
    fn check(&self) -> Result<(), &'static str> {
        match (&self.pointer, self.values.is_empty()) {
            (Some(pointer), false) if is_pointer(pointer) => Ok(()),
            (Some(_), false) => Err("pointer is a JSON pointer, such as /code"),
            (None, true) if self.status.is_some() => Ok(()),
            (None, true) => Err("it needs a status, or a pointer with values"),
            _ => Err("pointer and values belong together"),
        }
    }

    /// The reason, if every condition matches.
    pub(super) fn judge(&self, status: Option<u16>, document: &Value) -> Option<Reason> {
        let status_fits = self.status.is_none() || self.status == status;
        let matches = |pointer: &String| matches_at(document, pointer, &self.values);
        (status_fits && self.pointer.as_ref().is_none_or(matches)).then_some(self.reason)
    }
}

/// # Errors
/// A sentence that names the first invalid rule in the list at `key`.
pub(super) fn check(key: &str, rules: &[GenericRule]) -> Result<(), String> {
    let mut rules = rules.iter().enumerate();
    rules.try_for_each(|(at, rule)| rule.check().map_err(|what| format!("{key}[{at}]: {what}")))
}

fn matches_at(document: &Value, pointer: &str, words: &[String]) -> bool {
    word_at(document, pointer).is_some_and(|word| is_one_of(&word, words))
}

/// Tells whether `word` is among `words`, without regard to ASCII case.
pub(super) fn is_one_of(word: &str, words: &[String]) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Tells whether the text is a JSON pointer (RFC 6901).
pub(super) fn is_pointer(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}
