//! Judges whether a secret is strong enough: rejects guessable texts and keys that are not random.

use std::collections::HashSet;

#[derive(Clone, Copy, Debug)]
pub struct Strength {
    pub length: usize,
    pub distinct: usize,
}

/// For secrets with which a caller proves to be a provider: at least 16 hexadecimal digits.
pub const TAKEN_FROM_CALLERS: Strength = Strength { length: 16, distinct: 6 };
/// For secrets that we send to a provider, who chose their form.
pub const SHOWN_TO_PROVIDERS: Strength = Strength { length: 8, distinct: 4 };

/// Words from manuals and typical placeholders; a random text of letters does not contain one by
/// chance.
const WELL_KNOWN: [&str; 14] = [
    "changeme",
    "password",
    "passw0rd",
    "secret",
    "example",
    "letmein",
    "qwerty",
    "default",
    "placeholder",
    "verifytoken",
    "webhooktoken",
    "yourtoken",
    "accesstoken",
    "hunter2",
];

/// Why `text` is not a good secret, as the end of a sentence; `None` if there is no objection.
pub fn weakness(text: &str, asked: Strength) -> Option<String> {
    let letters: Vec<char> = text.chars().collect();
    if letters.len() < asked.length {
        return Some(format!("has fewer than {} characters", asked.length));
    }
    if letters.iter().collect::<HashSet<_>>().len() < asked.distinct {
        return Some(format!("has fewer than {} different characters", asked.distinct));
    }
    if repeats(&letters) {
        return Some("repeats itself".to_owned());
    }
    if counts(&letters) {
        return Some("is a row of neighbouring characters".to_owned());
    }
    is_well_known(text).then(|| "contains a word that attackers try first".to_owned())
}

/// Tells whether `text` contains a word that manuals use in place of a secret.
pub fn is_well_known(text: &str) -> bool {
    let plain: String = text.chars().filter(char::is_ascii_alphanumeric).collect();
    let plain = plain.to_ascii_lowercase();
    WELL_KNOWN.iter().any(|word| plain.contains(word))
}

/// Tells whether the text repeats a shorter one.
fn repeats(letters: &[char]) -> bool {
    let of = |period: usize| (period..letters.len()).all(|i| letters[i] == letters[i - period]);
    (1..=letters.len() / 2).any(of)
}

/// Tells whether more than three of four steps lead to the same or a neighbouring character.
fn counts(letters: &[char]) -> bool {
    let small = |pair: &&[char]| u32::from(pair[0]).abs_diff(u32::from(pair[1])) <= 1;
    let steps = letters.windows(2);
    steps.clone().filter(small).count() * 4 > steps.count() * 3
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn length_and_variety_are_asked_for_to_the_character() {
        let asked = Strength { length: 8, distinct: 4 };
        assert_eq!(weakness("axdqaxd", asked).unwrap(), "has fewer than 8 characters");
        assert_eq!(weakness("axdqaxdx", asked), None);
        assert_eq!(weakness("axdxaddx", asked).unwrap(), "has fewer than 4 different characters");
    }

    #[test]
    fn patterns_rows_and_examples_are_no_secrets() {
        for (text, why) in [
            ("k3Rz9Wq1k3Rz9Wq1", "repeats itself"),
            ("k3Rz9Wk3Rz9Wk3Rz", "repeats itself"),
            ("0123456789abcdefghij", "is a row of neighbouring characters"),
            ("zyxwvutsrqponmlkjihg", "is a row of neighbouring characters"),
            ("aaaabbbbccccddddeeeeffff", "is a row of neighbouring characters"),
            ("my-Verify-Token-4711", "contains a word that attackers try first"),
            ("P4-CHANGE_ME-9281xkcd", "contains a word that attackers try first"),
        ] {
            let found = weakness(text, TAKEN_FROM_CALLERS);
            assert_eq!(found.as_deref(), Some(why), "{text}");
        }
        assert_eq!(weakness("x", TAKEN_FROM_CALLERS).unwrap(), "has fewer than 16 characters");
    }

    proptest! {
        /// What `openssl rand -hex 32`, `-base64 24` and vendors' panels give.
        #[test]
        fn drawn_texts_are_secrets(hex in "[0-9a-f]{32,64}", base64 in "[a-zA-Z0-9+/]{32}") {
            prop_assert_eq!(weakness(&hex, TAKEN_FROM_CALLERS), None);
            prop_assert_eq!(weakness(&base64, TAKEN_FROM_CALLERS), None);
        }
    }
}
