use derive_more::{Debug, Display};
use std::str::FromStr;

/// An Indian mobile number: ten digits, the first 6 to 9 (docs/contract.md, Bodies).
///
/// `Debug` and `Display` mask the number; [`Phone::e164`] shows it.
#[derive(Clone, Debug, Display, PartialEq, Eq, Hash)]
#[display("+91{}••••{}", &self.national()[..2], &self.national()[6..])]
#[debug("{self}")]
pub struct Phone([u8; 10]);

/// Parse error: the text is not an Indian mobile number.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a valid Indian mobile number")]
pub struct InvalidPhone;

impl Phone {
    /// The number with its country code, unmasked: `+919876543210`.
    pub fn e164(&self) -> String {
        format!("+91{}", self.national())
    }

    /// The ten digits without the country code, unmasked.
    #[expect(clippy::expect_used, reason = "only ASCII digits are ever put in")]
    pub fn national(&self) -> &str {
        std::str::from_utf8(&self.0).expect("digits are text")
    }
}

/// Parses ten digits with or without the prefix `+91`; nothing is trimmed or repaired.
impl FromStr for Phone {
    type Err = InvalidPhone;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let national = text.strip_prefix("+91").unwrap_or(text);
        let digits: [u8; 10] = national.as_bytes().try_into().map_err(|_| InvalidPhone)?;
        let valid = (b'6'..=b'9').contains(&digits[0]) && digits.iter().all(u8::is_ascii_digit);
        if valid { Ok(Self(digits)) } else { Err(InvalidPhone) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_spellings_as_one_number() {
        let plain: Phone = "9876543210".parse().unwrap();
        assert_eq!(plain, "+919876543210".parse().unwrap());
        assert_eq!(plain.e164(), "+919876543210");
    }

    #[test]
    fn refuses_everything_else() {
        for text in [
            "",
            "5876543210",
            "987654321",
            "98765432100",
            "919876543210",
            "09876543210",
            "+91 9876543210",
            "98765 43210",
            "98765-43210",
            "+929876543210",
            "987654321a",
            "٩٨٧٦٥٤٣٢١٠",
            "９８７６５４３２１０",
            "+91+919876543210",
            " 9876543210",
            "9876543210\n",
        ] {
            assert_eq!(text.parse::<Phone>(), Err(InvalidPhone), "{text:?}");
        }
    }

    #[test]
    fn shows_itself_masked() {
        let phone: Phone = "9876543210".parse().unwrap();
        assert_eq!(format!("{phone} {phone:?}"), "+9198••••3210 +9198••••3210");
    }
}
