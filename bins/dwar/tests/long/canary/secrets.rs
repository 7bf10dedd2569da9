//! Secrets, and the forms in which they might be written.

use crate::canary::reading::{numbers, readings, standing_codes};
use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::collections::{BTreeMap, BTreeSet};

/// A secret of at least twice this length is searched for in parts of this length, so that a part
/// of it is found too.
const PART: usize = 12;
/// The prefix of the numbers with a simulated scenario in test mode, which belong to nobody.
const MAGIC: &str = "900000000";
/// How much of a line is shown around a secret.
const AROUND: usize = 90;

#[derive(Clone, Debug, Default)]
pub struct Secrets {
    texts: BTreeMap<Vec<u8>, &'static str>,
    phones: BTreeSet<String>,
    codes: BTreeSet<String>,
}

impl Secrets {
    pub fn add(&mut self, what: &'static str, secret: impl AsRef<[u8]>) {
        let secret = secret.as_ref();
        assert!(secret.len() >= 8, "{what} would be found by chance");
        self.texts.insert(secret.to_vec(), what);
    }

    /// Ten digits, which are found with and without a prefix and separators.
    pub fn add_phone(&mut self, phone: &str) {
        let national = phone.strip_prefix("+91").unwrap_or(phone);
        assert_eq!(national.len(), 10, "{phone}");
        if !national.starts_with(MAGIC) {
            self.phones.insert(national.to_owned());
        }
    }

    /// Six digits, which are found where they stand alone.
    pub fn add_code(&mut self, code: &str) {
        assert_eq!(code.len(), 6, "{code}");
        self.codes.insert(code.to_owned());
    }

    pub fn phones(&self) -> BTreeSet<String> {
        self.phones.clone()
    }

    pub fn count(&self) -> [usize; 3] {
        [self.texts.len(), self.phones.len(), self.codes.len()]
    }

    pub fn search(&self) -> Search<'_> {
        let mut patterns: BTreeMap<Vec<u8>, &str> = BTreeMap::new();
        for (secret, what) in &self.texts {
            patterns.extend(parts(secret).map(|part| (part.to_vec(), *what)));
            patterns.extend(encoded(secret).into_iter().map(|form| (form, *what)));
        }
        for (secrets, what) in [(&self.phones, "a phone"), (&self.codes, "a code")] {
            let forms = secrets.iter().flat_map(|secret| encoded(secret.as_bytes()));
            patterns.extend(forms.map(|form| (form, what)));
        }
        let (patterns, names): (Vec<_>, Vec<_>) = patterns.into_iter().unzip();
        Search { secrets: self, patterns: AhoCorasick::new(patterns).unwrap(), names }
    }
}

pub struct Search<'a> {
    secrets: &'a Secrets,
    patterns: AhoCorasick,
    names: Vec<&'a str>,
}

impl Search<'_> {
    /// The secrets in `text`, line by line: which secret, at which `place`, between which words.
    pub fn leaks(&self, place: &str, text: &[u8]) -> Vec<String> {
        let mut leaks = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            // One finding per line is enough.
            let found = readings(line).into_iter().find_map(|reading| {
                let (what, at) = self.first_in(&reading)?;
                let around = at.saturating_sub(AROUND)..reading.len().min(at + AROUND);
                let around = String::from_utf8_lossy(&reading[around]).into_owned();
                Some(format!("{place} tells {what}: …{around}…"))
            });
            leaks.extend(found);
        }
        leaks
    }

    fn first_in(&self, text: &[u8]) -> Option<(&str, usize)> {
        let text_or_form = self.patterns.find(text);
        let text_or_form = text_or_form.map(|it| (self.names[it.pattern().as_usize()], it.start()));
        let phone = || {
            let tells = |digits: &[u8]| {
                let mut tens = digits.windows(10).filter_map(|ten| std::str::from_utf8(ten).ok());
                tens.any(|ten| self.secrets.phones.contains(ten))
            };
            let found = numbers(text).find(|(_, digits)| tells(digits));
            found.map(|(at, _)| ("a phone", at))
        };
        let code = || {
            let found = standing_codes(text).find(|(_, code)| self.secrets.codes.contains(*code));
            found.map(|(at, _)| ("a code", at))
        };
        text_or_form.or_else(phone).or_else(code)
    }
}

/// Parts of equal length of a long secret; a short one as a whole.
fn parts(secret: &[u8]) -> std::slice::ChunksExact<'_, u8> {
    secret.chunks_exact(if secret.len() < 2 * PART { secret.len() } else { PART })
}

/// The secret as hexadecimal digits, as the numbers of its bytes, and as Base64 at any offset.
fn encoded(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms = Vec::new();
    for part in parts(secret) {
        let hex = part.iter().map(|byte| format!("{byte:02x}"));
        forms.push(hex.collect::<String>().into_bytes());
        let numbers: Vec<String> = part.iter().map(ToString::to_string).collect();
        forms.push(numbers.join(", ").into_bytes());
    }
    for engine in [STANDARD_NO_PAD, URL_SAFE_NO_PAD] {
        for before in 0..3 {
            let text = engine.encode([&vec![0; before], secret].concat());
            // Letters at both ends contain bits of the neighbouring bytes too.
            let own = (before * 8).div_ceil(6)..(before + secret.len()) * 8 / 6;
            forms.extend(parts(&text.as_bytes()[own]).map(<[u8]>::to_vec));
        }
    }
    forms
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    const KEY: &str = "svc_test_8fJ2kq+Zp/0vLxT5nWm3RyBd";
    const PHONE: &str = "9831415927";
    const CODE: &str = "404219";

    fn tells(text: &str) -> bool {
        let mut secrets = Secrets::default();
        secrets.add("a key", KEY);
        secrets.add_phone(&format!("+91{PHONE}"));
        secrets.add_code(CODE);
        !secrets.search().leaks("it", text.as_bytes()).is_empty()
    }

    #[test]
    fn finds_each_secret_in_clear_and_encoded_wherever_it_begins() {
        for secret in [KEY, PHONE, CODE] {
            for before in ["", "a", "ab", "abc", "{\"x\":\""] {
                let text = format!("{before} {secret} and more");
                let url: String = secret.bytes().map(|byte| format!("%{byte:02x}")).collect();
                for told in [
                    text.clone(),
                    STANDARD.encode(&text),
                    URL_SAFE.encode(&text),
                    STANDARD.encode(&text).replace('+', "%2B").replace('/', "%2F"),
                    format!("{before} {url}"),
                    format!("{before} {}", url.to_uppercase()),
                    format!("{:?}", text.as_bytes()),
                ] {
                    assert!(tells(&format!("{{\"message\":\"{told}\"}}")), "{told}");
                }
            }
        }
    }

    #[test]
    fn finds_a_part_of_a_long_one() {
        assert!(tells(&KEY[..26]) && tells(&KEY[7..]));
        assert!(tells(&STANDARD.encode(&KEY[5..])[..32]));
        assert!(!tells(&KEY[..12 - 1]) && !tells("svc_test_…"));
    }

    #[test]
    fn finds_a_phone_as_people_write_it() {
        for told in [
            "98314 15927",
            "+91-98314-15927",
            "(983) 141-5927",
            "91 983.141.5927",
            "tel:+919831415927",
        ] {
            assert!(tells(told), "{told}");
        }
        for told in ["+9198••••5927", "983141592", "98314159 x 27", "9831-to-415927"] {
            assert!(!tells(told), "{told}");
        }
    }

    #[test]
    fn finds_a_code_that_stands_alone() {
        for told in
            ["code=404219", "404219.", "\"404219\"", "(404219)", "otp:404219,", "to 404219 is"]
        {
            assert!(tells(told), "{told}");
        }
        for told in [
            "2026-11-25T10:11:12.404219Z",
            "2026-11-25T10:11:12.404219+05:30",
            "\"duration_ms\":27.404219,",
            "01a1fd34-43e0-77fb-99f9-de0404219c75",
            "1404219",
            "4042190",
            "404219ms",
            "404219.5",
            "\"balance_paise\":404219,",
        ] {
            assert!(!tells(told), "{told}");
        }
    }
}
