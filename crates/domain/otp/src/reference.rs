use crate::Code;
use dwar_kernel::Phone;

/// The longest reference that is accepted, in bytes; no known provider's is half as long.
pub const LONGEST_REFERENCE: usize = 128;

/// Whether `text` may serve as a provider's name of a message: 1 to 128 letters, digits and
/// `-_.:=+/`, of ASCII alone.
///
/// What a provider calls a message is its own text, so it is treated as text that anybody might
/// have written.
pub fn is_reference(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:=+/".contains(&byte);
    (1..=LONGEST_REFERENCE).contains(&text.len()) && text.bytes().all(plain)
}

/// Whether `text` holds the phone number, in any spelling of its digits, or the code.
///
/// A text that contains the number does not identify one message anyway: the next message to that
/// number would have the same.
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
