//! Parses files of variables as systemd does for `EnvironmentFile=` (systemd.exec(5)): nothing is
//! expanded, and quotes and backslashes have the same meaning.
//!
//! Refuses lines that systemd ignores silently, or reads differently from one version to the next.

use std::iter::Peekable;
use std::str::Chars;

const ENDS: [char; 2] = ['\n', '\r'];
/// Characters that a backslash escapes within double quotes; before any other the backslash is
/// literal.
const ESCAPED: [char; 4] = ['"', '\\', '`', '$'];

const NO_VARIABLE: &str = "is not NAME=value";
const NEVER_CLOSED: &str = "begins with a quote that is never closed";
const GOES_ON: &str = "is a comment that ends in a backslash, which goes on in the next line for some \
                       versions of systemd and not for others";

/// A file of variables cannot be parsed: the line number, and a description that does not quote the
/// file.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {0} {1}")]
pub struct Unreadable(usize, &'static str);

/// The variables of a file in order. If one is set twice, the last value applies.
pub fn variables(text: &str) -> Result<Vec<(String, String)>, Unreadable> {
    let mut reader = Reader { rest: text.chars().peekable(), line: 1 };
    let mut found = Vec::new();
    while let Some(letter) = reader.rest.peek() {
        match letter {
            ' ' | '\t' | '\r' | '\n' => drop(reader.next()),
            '#' | ';' => reader.comment()?,
            _ => found.push(reader.variable()?),
        }
    }
    Ok(found)
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let letter = self.rest.next()?;
        self.line += usize::from(letter == '\n');
        Some(letter)
    }

    fn comment(&mut self) -> Result<(), Unreadable> {
        let mut last = None;
        while let Some(letter) = self.rest.next_if(|letter| !ENDS.contains(letter)) {
            last = Some(letter);
        }
        if last == Some('\\') { Err(Unreadable(self.line, GOES_ON)) } else { Ok(()) }
    }

    fn variable(&mut self) -> Result<(String, String), Unreadable> {
        let line = self.line;
        let refused = |what| Unreadable(line, what);
        let mut name = String::new();
        loop {
            match self.next() {
                Some('=') => break,
                Some(letter) if !ENDS.contains(&letter) => name.push(letter),
                _ => return Err(refused(NO_VARIABLE)),
            }
        }
        let name = name.trim();
        let is_first = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
        let is_other = |letter: char| is_first(letter) || letter.is_ascii_digit();
        if !name.starts_with(is_first) || !name.chars().all(is_other) {
            return Err(refused(NO_VARIABLE));
        }
        let value = self.value().ok_or(refused(NEVER_CLOSED))?;
        Ok((name.to_owned(), value))
    }

    /// The text after `=`, trailing blanks included; `None` if a quote is not closed.
    fn value(&mut self) -> Option<String> {
        let mut value = String::new();
        // Quotes are syntax only before the first unquoted character.
        let mut bare = false;
        while let Some(letter) = self.next() {
            match letter {
                '\n' | '\r' => break,
                '\'' if !bare => self.single(&mut value)?,
                '"' if !bare => self.double(&mut value)?,
                ' ' | '\t' if !bare => {}
                '\\' => {
                    bare = true;
                    value.extend(self.next().filter(|letter| !ENDS.contains(letter)));
                }
                letter => {
                    bare = true;
                    value.push(letter);
                }
            }
        }
        Some(value)
    }

    fn single(&mut self, value: &mut String) -> Option<()> {
        loop {
            match self.next()? {
                '\'' => return Some(()),
                letter => value.push(letter),
            }
        }
    }

    fn double(&mut self, value: &mut String) -> Option<()> {
        loop {
            match self.next()? {
                '"' => return Some(()),
                '\\' => match self.next()? {
                    '\n' => {}
                    letter if ESCAPED.contains(&letter) => value.push(letter),
                    letter => value.extend(['\\', letter]),
                },
                letter => value.push(letter),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(String, String)> {
        variables(text).unwrap()
    }

    fn value(text: &str) -> String {
        let [(name, value)] = read(&format!("A={text}")).try_into().unwrap();
        assert_eq!(name, "A");
        value
    }

    #[test]
    fn a_value_is_what_systemd_takes_it_for() {
        for (text, wanted) in [
            ("", ""),
            ("a", "a"),
            ("  a b", "a b"),
            ("postgres://u:p%40@h/d?a=b&c=d", "postgres://u:p%40@h/d?a=b&c=d"),
            ("$HOME `id` $(id) ~ * # ; |", "$HOME `id` $(id) ~ * # ; |"),
            ("\"a b\"", "a b"),
            ("'a b'", "a b"),
            ("'a\\b\"$c'", "a\\b\"$c"),
            ("\"\\\"a\\\\ \\$b \\` \\n\"", "\"a\\ $b ` \\n"),
            ("\"a\"'b'c", "abc"),
            ("\"a\" \"b\"", "ab"),
            ("a\"b\"", "a\"b\""),
            ("it's", "it's"),
            ("a\\\\b\\c", "a\\bc"),
            ("\\\"a\\\"", "\"a\""),
            ("a\\\nb", "ab"),
            ("\\\na", "a"),
            ("\"a\\\nb\"", "ab"),
            ("\"a\nb\"", "a\nb"),
            ("'\"a\"'", "\"a\""),
            ("a\\", "a"),
        ] {
            assert_eq!(value(text), wanted, "{text:?}");
        }
    }

    #[test]
    fn lines_end_alike_everywhere_and_comments_and_blank_ones_say_nothing() {
        let text = "# one\n; two\n\n  A=1 \n\tB = 2\r\n\r\nA=3";
        let found = read(text);
        let found: Vec<_> =
            found.iter().map(|(name, value)| (name.as_str(), value.trim())).collect();
        assert_eq!(found, [("A", "1"), ("B", "2"), ("A", "3")]);
        assert!(read("").is_empty() && read("# A=1").is_empty() && read("\n\n").is_empty());
    }

    #[test]
    fn what_would_be_passed_over_or_read_differently_is_told_by_its_line() {
        for (text, line, what) in [
            ("A=1\nexport B=2\n", 2, NO_VARIABLE),
            ("A=1\n\nsecret\n", 3, NO_VARIABLE),
            ("secret", 1, NO_VARIABLE),
            ("1A=2", 1, NO_VARIABLE),
            (" = 2", 1, NO_VARIABLE),
            ("[section]\nA=1", 1, NO_VARIABLE),
            ("A=1\nB=\"secret\nC=3\n", 2, NEVER_CLOSED),
            ("A='secret", 1, NEVER_CLOSED),
            ("A=\"secret\\\"", 1, NEVER_CLOSED),
            ("A=1\n# secret \\\nB=2", 2, GOES_ON),
            ("# secret \\\r\nB=2", 1, GOES_ON),
        ] {
            assert_eq!(variables(text), Err(Unreadable(line, what)), "{text:?}");
        }
    }
}
