//! Cleans the text of a setting, the same way in every layer.

use std::io::{self, ErrorKind};
use std::path::Path;
use zeroize::Zeroizing;

/// Characters that editors, mounted files and shells leave around a value.
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];
const BYTE_ORDER_MARK: char = '\u{feff}';

const HIDDEN: &str = "holds a line break, a tab or a character that cannot be seen";
const QUOTED: &str = "has quotes around it, which are not part of a value: leave them out";

/// Removes the blanks around a setting.
///
/// # Errors
/// The problem, as the end of a sentence that never contains the text.
pub fn plain(given: &str) -> Result<&str, &'static str> {
    let text = given.trim_matches(BLANKS);
    if text.contains(is_hidden) { Err(HIDDEN) } else { Ok(text) }
}

/// Like [`plain`], for the environment and files of variables. Quotes around the whole value are
/// refused, because their author expected a shell to remove them.
///
/// # Errors
/// Those of [`plain`], and quotes around the whole.
pub fn unquoted(given: &str) -> Result<&str, &'static str> {
    let text = plain(given)?;
    let around = |quote| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote);
    if around('"') || around('\'') { Err(QUOTED) } else { Ok(text) }
}

/// Reads a whole file of settings, without the byte order mark that some editors add.
///
/// # Errors
/// The file cannot be read, or is not UTF-8.
pub fn read(path: &Path) -> io::Result<Zeroizing<String>> {
    let bytes = Zeroizing::new(std::fs::read(path)?);
    let text = std::str::from_utf8(&bytes).map_err(|cause| {
        let line = bytes[..cause.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        io::Error::new(ErrorKind::InvalidData, format!("line {line} is not UTF-8"))
    })?;
    Ok(Zeroizing::new(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).to_owned()))
}

/// Characters that no setting contains on purpose: control characters, and invisible ones that are
/// copied along with a text.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}' | BYTE_ORDER_MARK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_go_and_those_within_stay() {
        for given in ["a b", " a b", "a b\n", "a b\r\n", "\t \r\n a b \t"] {
            assert_eq!(unquoted(given), Ok("a b"), "{given:?}");
        }
        assert_eq!(unquoted(" \r\n"), Ok(""));
    }

    #[test]
    fn what_cannot_be_seen_is_refused() {
        for given in ["a\nb", "a\rb", "a\tb", "a\0", "\u{7f}a", "\u{85}a", "a\u{200b}", "\u{feff}a"]
        {
            assert_eq!(plain(given), Err(HIDDEN), "{given:?}");
            assert_eq!(unquoted(given), Err(HIDDEN), "{given:?}");
        }
    }

    #[test]
    fn quotes_around_are_nobodys_where_they_are_no_syntax() {
        for given in ["\"a\"", "'a'", " \"a b\"\n", "\"\"", "'\"a\"'"] {
            assert_eq!(unquoted(given), Err(QUOTED), "{given:?}");
            assert!(plain(given).is_ok(), "{given:?}");
        }
        for given in ["a\"b\"", "\"a", "it's", "\"a'", "\"", "{ OTP = \"code\" }"] {
            assert_eq!(unquoted(given), Ok(given));
        }
    }

    #[test]
    fn a_file_is_utf8_with_or_without_a_mark() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "\u{feff}a = 1\r\n").unwrap();
        assert_eq!(read(&file).unwrap().as_str(), "a = 1\r\n");
        std::fs::write(&file, b"a = 1\nsecret\xff").unwrap();
        assert_eq!(read(&file).unwrap_err().to_string(), "line 2 is not UTF-8");
    }
}
