use std::fmt::{Display, Write};

/// Content of an audit entry, as a JSON object: names and values in order.
///
/// Text written by people goes in by [`AuditDetails::text`], which masks phone numbers. No function takes a secret
/// type, so a secret can get in only by mistake.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditDetails(Vec<(&'static str, String)>);

impl AuditDetails {
    /// An empty object, to which facts are added.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds text written by people; phone numbers in it are masked.
    #[must_use]
    pub fn text(self, name: &'static str, value: &str) -> Self {
        self.with(name, quoted(&masked(value)))
    }

    /// Like [`AuditDetails::text`], or null if `value` is `None`.
    #[must_use]
    pub fn maybe(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self.null(name),
        }
    }

    /// Adds an id, an instant or a fixed word, unmasked.
    #[must_use]
    pub fn word(self, name: &'static str, value: impl Display) -> Self {
        self.with(name, quoted(&value.to_string()))
    }

    /// Adds a number, which is written without quotes.
    #[must_use]
    pub fn number(self, name: &'static str, value: impl Into<i64>) -> Self {
        self.with(name, value.into().to_string())
    }

    /// Like [`AuditDetails::number`], or null if `value` is `None`.
    #[must_use]
    pub fn maybe_number(self, name: &'static str, value: Option<impl Into<i64>>) -> Self {
        match value {
            Some(value) => self.number(name, value),
            None => self.null(name),
        }
    }

    /// Adds a boolean, which is written as `true` or `false`.
    #[must_use]
    pub fn flag(self, name: &'static str, value: bool) -> Self {
        self.with(name, value.to_string())
    }

    /// Adds a list of texts, each masked; null if `values` is `None`.
    #[must_use]
    pub fn list(self, name: &'static str, values: Option<&[String]>) -> Self {
        let Some(values) = values else { return self.null(name) };
        let values: Vec<String> = values.iter().map(|value| quoted(&masked(value))).collect();
        self.with(name, format!("[{}]", values.join(",")))
    }

    /// Adds a null, for a value that is unset.
    #[must_use]
    pub fn null(self, name: &'static str) -> Self {
        self.with(name, "null".to_owned())
    }

    /// Removes the facts that are equal in both, and returns the rest of each.
    pub fn difference(before: &Self, after: &Self) -> (Self, Self) {
        let only = |these: &Self, those: &Self| {
            Self(these.0.iter().filter(|fact| !those.0.contains(fact)).cloned().collect())
        };
        (only(before, after), only(after, before))
    }

    /// The facts as one JSON object, in the order of adding.
    pub fn to_json(&self) -> String {
        let pairs: Vec<String> =
            self.0.iter().map(|(name, value)| format!("{}:{value}", quoted(name))).collect();
        format!("{{{}}}", pairs.join(","))
    }

    fn with(mut self, name: &'static str, value: String) -> Self {
        self.0.push((name, value));
        self
    }
}

/// A quoted JSON string (RFC 8259 section 7).
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            control if control < ' ' => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// Masks the middle of every Indian mobile number in a text, in any spelling: `+91 98765 43210` becomes `+91
/// 98••••3210`. Other digits stay, and so do UUIDs, whose digits may look like a number.
pub fn masked(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < letters.len() {
        if let Some(id) = letters.get(at..at + UUID).filter(|id| is_uuid(id)) {
            out.extend(id);
            at += UUID;
            continue;
        }
        let run = run_of_digits(&letters[at..]);
        let digits: Vec<char> =
            letters[at..at + run].iter().copied().filter(char::is_ascii_digit).collect();
        match national(&digits) {
            Some(start) => {
                let (front, number) = digits.split_at(start);
                out.extend(front);
                out.extend(&number[..2]);
                out.push_str("••••");
                out.extend(&number[6..]);
            }
            None => out.extend(&letters[at..at + run]),
        }
        at += run;
        if let Some(letter) = letters.get(at).filter(|_| run == 0) {
            out.push(*letter);
            at += 1;
        }
    }
    out
}

/// Characters of a UUID in text form (RFC 9562 section 4).
const UUID: usize = 36;

fn is_uuid(letters: &[char]) -> bool {
    letters.iter().enumerate().all(|(at, letter)| match at {
        8 | 13 | 18 | 23 => *letter == '-',
        _ => letter.is_ascii_hexdigit(),
    })
}

/// Length of a run of digits, including single blanks, dots and dashes between them.
fn run_of_digits(letters: &[char]) -> usize {
    let digit = |at: usize| letters.get(at).is_some_and(char::is_ascii_digit);
    let mut end = 0;
    while digit(end) {
        end += 1;
        if letters.get(end).is_some_and(|letter| " -.".contains(*letter)) && digit(end + 1) {
            end += 1;
        }
    }
    end
}

/// Where the ten digits begin, if these digits are a mobile number with or without country code.
fn national(digits: &[char]) -> Option<usize> {
    let start = digits.len().checked_sub(10)?;
    let front: String = digits[..start].iter().collect();
    let mobile = ('6'..='9').contains(&digits[start]);
    (mobile && ["", "0", "91", "091", "0091"].contains(&front.as_str())).then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_one_json_object() {
        let facts = AuditDetails::new()
            .text("name", "Chai \"&\" \\Co\n\u{1}")
            .word("role", "owner")
            .number("paise", -5)
            .flag("on", true)
            .maybe("brand", None)
            .maybe_number("price", None::<i64>)
            .list("sms", Some(&["msg91".to_owned(), "gup\"shup".to_owned()]))
            .list("whatsapp", None);
        assert_eq!(
            facts.to_json(),
            r#"{"name":"Chai \"&\" \\Co\u000a\u0001","role":"owner","paise":-5,"on":true,"brand":null,"price":null,"sms":["msg91","gup\"shup"],"whatsapp":null}"#
        );
        assert_eq!(AuditDetails::new().to_json(), "{}");
    }

    #[test]
    fn only_what_differs_is_told() {
        let of = |name: &str, on| AuditDetails::new().text("name", name).flag("on", on);
        let (before, after) = AuditDetails::difference(&of("a", true), &of("b", true));
        assert_eq!((before.to_json().as_str(), after.to_json().as_str()), {
            (r#"{"name":"a"}"#, r#"{"name":"b"}"#)
        });
    }

    #[test]
    fn phone_numbers_are_masked_however_they_are_written() {
        for (text, shown) in [
            ("9876543210", "98••••3210"),
            ("refund for +919876543210, sorry", "refund for +9198••••3210, sorry"),
            ("+91 98765 43210", "+9198••••3210"),
            ("98765-43210", "98••••3210"),
            ("09876543210 and 6000000000", "098••••3210 and 60••••0000"),
            ("UTR 412345678901", "UTR 412345678901"),
            ("DLT 1107161234567890123", "DLT 1107161234567890123"),
            ("2026-11-24", "2026-11-24"),
            ("5876543210", "5876543210"),
            ("₹ 9.50 – no number", "₹ 9.50 – no number"),
            // The last digits are those of a number with its country code.
            (
                "event 01a20ae7-40ff-7651-9abc-919876543210 sent",
                "event 01a20ae7-40ff-7651-9abc-919876543210 sent",
            ),
        ] {
            assert_eq!(masked(text), shown, "{text}");
        }
        assert_eq!(
            AuditDetails::new().text("why", "9876543210").to_json(),
            r#"{"why":"98••••3210"}"#
        );
    }
}
