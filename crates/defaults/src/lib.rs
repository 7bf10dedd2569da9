//! What `config.default.toml` says, for whoever is built without the binary's configuration: stores that
//! a program opens by itself, and tests. A default stands in that file and nowhere else.
//!
//! The functions are for constants: one that asks for a setting which is not there does not compile.
//!
//! ```
//! const LIFETIME_SECONDS: u64 = dwar_defaults::number("otp", "lifetime_seconds");
//! ```

/// The whole file, which is also the manual of every setting.
pub const FILE: &str = include_str!("../config.default.toml");

/// The number that `key` of `[section]` is by default.
///
/// # Panics
/// The file has no such number. In a constant that stops the build.
pub const fn number(section: &str, key: &str) -> u64 {
    let (mut digits, mut number) = (value(section, key), 0);
    assert!(!digits.is_empty(), "the setting is no number");
    while let [digit, rest @ ..] = digits {
        assert!(digit.is_ascii_digit(), "the setting is no number");
        number = number * 10 + (*digit - b'0') as u64;
        digits = rest;
    }
    number
}

/// The text that `key` of `[section]` is by default.
///
/// # Panics
/// The file has no such text. In a constant that stops the build.
pub const fn text(section: &str, key: &str) -> &'static str {
    match value(section, key) {
        [b'"', text @ .., b'"'] => match std::str::from_utf8(text) {
            Ok(text) => text,
            Err(_) => panic!("the setting is no text"),
        },
        _ => panic!("the setting is no text"),
    }
}

/// What stands behind `key = ` in the section; the file has one setting a line.
const fn value(section: &str, key: &str) -> &'static [u8] {
    let (mut rest, mut within) = (FILE.as_bytes(), false);
    while !rest.is_empty() {
        let (line, after) = cut_at(rest, b'\n');
        if let [b'[', name @ .., b']'] = line {
            within = name.len() == section.len() && begins(name, section);
        } else if within && begins(line, key) {
            let (_, behind) = line.split_at(key.len());
            if let [b' ', b'=', b' ', value @ ..] = behind {
                return value;
            }
        }
        rest = after;
    }
    panic!("config.default.toml has no such setting")
}

/// What is before the first `byte`, and what is behind it.
const fn cut_at(bytes: &'static [u8], byte: u8) -> (&'static [u8], &'static [u8]) {
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == byte {
            return (bytes.split_at(at).0, bytes.split_at(at + 1).1);
        }
        at += 1;
    }
    (bytes, &[])
}

const fn begins(bytes: &[u8], start: &str) -> bool {
    let (start, mut at) = (start.as_bytes(), 0);
    while at < start.len() {
        if at == bytes.len() || bytes[at] != start[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_that_of_its_section() {
        assert_eq!(number("limits.live", "verify_attempts"), 5);
        assert_eq!(number("limits.test", "verify_attempts"), 20);
        assert_eq!(number("limits.live", "send"), 3, "not send_window_seconds");
        assert_eq!(text("tokens", "algorithm"), "ES256");
        assert_eq!(text("secrets", "master_key"), "");
    }

    #[test]
    fn what_is_not_there_or_of_another_kind_is_no_default() {
        for (section, key) in [
            ("otp", "lifetime"),
            ("limits", "send"),
            ("", "demo"),
            ("tokens", "algorithm"),
            ("events", "allow_private"),
        ] {
            assert!(std::panic::catch_unwind(|| number(section, key)).is_err(), "{section}.{key}");
        }
        assert!(std::panic::catch_unwind(|| text("otp", "lifetime_seconds")).is_err());
    }
}
