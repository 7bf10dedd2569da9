use std::fmt;
use std::str::FromStr;

/// An amount of money in whole paise; 100 paise are one rupee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Paise(pub i64);

/// The text is not an amount in rupees with at most two decimals.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("an amount is rupees with at most two decimals, like 100 or 99.50")]
pub struct InvalidAmount;

impl Paise {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// Reads rupees such as `100`, `99.5` or `99.50`, without passing through a float.
    ///
    /// # Errors
    /// [`InvalidAmount`] for a sign, an exponent, more than two decimals or what exceeds `i64`.
    pub fn from_rupees(text: &str) -> Result<Self, InvalidAmount> {
        let (rupees, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(rupees) || !digits(decimals) || decimals.len() > 2 {
            return Err(InvalidAmount);
        }
        let whole = i64::from_str(rupees).map_err(|_| InvalidAmount)?;
        let part = i64::from_str(&format!("{decimals:0<2}")).map_err(|_| InvalidAmount)?;
        let paise = whole.checked_mul(100).and_then(|paise| paise.checked_add(part));
        paise.map(Self).ok_or(InvalidAmount)
    }
}

impl fmt::Display for Paise {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        write!(out, "{sign}₹{}.{:02}", self.0.unsigned_abs() / 100, self.0.unsigned_abs() % 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rupees_without_a_float() {
        assert_eq!(Paise::from_rupees("100"), Ok(Paise(10_000)));
        assert_eq!(Paise::from_rupees("0.1"), Ok(Paise(10)));
        assert_eq!(Paise::from_rupees("99.05"), Ok(Paise(9_905)));
        for text in ["", "-1", "1.", ".5", "1.234", "1e3", "1,000", "92233720368547758.08"] {
            assert_eq!(Paise::from_rupees(text), Err(InvalidAmount), "{text:?}");
        }
    }

    #[test]
    fn shows_rupees() {
        assert_eq!(Paise(9_905).to_string(), "₹99.05");
        assert_eq!(Paise(-5).to_string(), "-₹0.05");
    }
}
