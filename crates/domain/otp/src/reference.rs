use crate::Code;
use dwar_kernel::Phone;

/// Longest accepted reference in bytes. References of all known providers are less than half as long.
pub const LONGEST_REFERENCE: usize = 128;

/// Whether `text` is acceptable as a provider's message reference: 1 to 128 ASCII letters, digits and
/// `-_.:=+/`.
///
/// A reference is text from outside, and is treated like any other untrusted input.
pub fn is_reference(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:=+/".contains(&byte);
    (1..=LONGEST_REFERENCE).contains(&text.len()) && text.bytes().all(plain)
}

/// Whether `text` contains the phone number, in any spelling of its digits, or the code.
///
/// A reference that contains the number is useless anyway: the next message to that number would have the
/// same one.
pub fn gives_away(text: &str, phone: &Phone, code: &Code) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    [phone.national(), code.expose()].iter().any(|secret| digits.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_of_real_providers_are_taken() {
        for text in [
            "wamid.HBgMOTE5ODc2NTQzMjEwFQIAERgSMUY0RjU3QTUxMjM0NTY3ODkwAA==",
            "SM0123456789abcdef0123456789abcdef",
            "366a6b6e6d6e303235343437",
            "3993334847168593920-264812345678901234",
            "lwdtp7cjyqxvfe9",
            "01900000-0000-7000-8000-00000000000b",
            "a/b+c=:1",
            "7",
        ] {
            assert!(is_reference(text), "{text}");
        }
        assert!(is_reference(&"x".repeat(LONGEST_REFERENCE)));
    }

    #[test]
    fn nothing_else_is() {
        for text in
            ["", " ", "a b", "a\nb", "a\u{0}", "<a>", "{}", "a'--", "\"", "é", "१२३", "a\u{202e}b"]
        {
            assert!(!is_reference(text), "{text:?}");
        }
        assert!(!is_reference(&"x".repeat(LONGEST_REFERENCE + 1)));
    }

    #[test]
    fn knows_the_number_and_the_code_in_every_spelling() {
        let (phone, code) = ("9876543210".parse().unwrap(), "012345".parse().unwrap());
        for text in [
            "9876543210",
            "+919876543210",
            "id-919876543210-1",
            "98765-43210",
            "0098.7654.3210",
            "9:8:7:6:5:4:3:2:1:0",
            "012345",
            "otp=012345",
            "012-345",
        ] {
            assert!(gives_away(text, &phone, &code), "{text}");
        }
        for text in ["", "9876543211", "987654321", "12345", "wamid.HBgM", "01-2-4345"] {
            assert!(!gives_away(text, &phone, &code), "{text}");
        }
    }
}
