use crate::Channel;
use std::fmt;
use std::str::FromStr;

/// An amount of money in whole paise; 100 paise are one rupee.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Paise(pub i64);

/// A requested amount: a payment, a price or a threshold. From zero to [`Amount::MOST`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(Paise);

/// Why an amount is refused; the message names the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAmount {
    #[error("an amount is rupees with at most two decimals, like 100 or 99.50")]
    Text,
    #[error("0 to 1000000000000 paise (a thousand crore rupees)")]
    Bounds,
}

/// Price of one message per channel; by default 20 paise over WhatsApp and 25 over SMS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriceList {
    pub whatsapp: Paise,
    /// For one message, however many SMS parts it has.
    pub sms: Paise,
}

impl Default for PriceList {
    fn default() -> Self {
        Self { whatsapp: Paise(20), sms: Paise(25) }
    }
}

impl PriceList {
    /// The price of one message over `channel`, in paise.
    pub const fn of(&self, channel: Channel) -> Paise {
        match channel {
            Channel::Whatsapp => self.whatsapp,
            Channel::Sms => self.sms,
        }
    }
}

impl Paise {
    /// Zero paise, the balance of a project without a wallet.
    pub const ZERO: Self = Self(0);
}

impl Amount {
    /// A thousand crore rupees, the most of any amount and of any balance.
    ///
    /// Anything more is a typing error. Sums stay exact, too: nine thousand balances of this size add up to a
    /// number that JSON carries (RFC 8259, section 6), nine million to one that an `i64` holds.
    pub const MOST: Paise = Paise(1_000_000_000_000);
    /// Zero paise, the smallest amount that can be requested.
    pub const ZERO: Self = Self(Paise::ZERO);

    /// The amount as [`Paise`], which can be added up.
    pub const fn paise(self) -> Paise {
        self.0
    }

    /// Parses rupees such as `100`, `99.5` or `99.50`, also with symbol and grouping (`₹1,23,456.50`),
    /// without a float.
    ///
    /// # Errors
    /// [`InvalidAmount`] for a sign, an exponent, more than two decimals, misplaced commas, or more than
    /// [`Amount::MOST`].
    pub fn from_rupees(text: &str) -> Result<Self, InvalidAmount> {
        let text = text.strip_prefix('₹').unwrap_or(text);
        let (shown, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let rupees = shown.replace(',', "");
        // A comma may be meant as a decimal point, so commas are accepted only in Indian grouping.
        if shown.contains(',') && rupees.parse().ok().map(grouped).as_deref() != Some(shown) {
            return Err(InvalidAmount::Text);
        }
        let rupees = rupees.as_str();
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(rupees) || !digits(decimals) || decimals.len() > 2 {
            return Err(InvalidAmount::Text);
        }
        // Only digits are left, so a parse error means overflow.
        let whole = i64::from_str(rupees).map_err(|_| InvalidAmount::Bounds)?;
        let part = i64::from_str(&format!("{decimals:0<2}")).map_err(|_| InvalidAmount::Text)?;
        let paise = whole.checked_mul(100).and_then(|paise| paise.checked_add(part));
        paise.ok_or(InvalidAmount::Bounds)?.try_into()
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl From<u32> for Amount {
    fn from(paise: u32) -> Self {
        Self(Paise(paise.into()))
    }
}

impl TryFrom<i64> for Amount {
    type Error = InvalidAmount;

    fn try_from(paise: i64) -> Result<Self, InvalidAmount> {
        let fits = (0..=Self::MOST.0).contains(&paise);
        if fits { Ok(Self(Paise(paise))) } else { Err(InvalidAmount::Bounds) }
    }
}

impl fmt::Display for Paise {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let (rupees, paise) = (self.0.unsigned_abs() / 100, self.0.unsigned_abs() % 100);
        write!(out, "{sign}₹{}.{paise:02}", grouped(rupees))
    }
}

/// A number with Indian grouping: the last three digits, then pairs.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let Some(split) = digits.len().checked_sub(3).filter(|split| *split > 0) else {
        return digits;
    };
    let (front, last) = digits.split_at(split);
    let mut grouped = String::new();
    for (index, digit) in front.chars().enumerate() {
        if index > 0 && (front.len() - index).is_multiple_of(2) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{grouped},{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_rupees_without_a_float() {
        let paise = |text: &str| Amount::from_rupees(text).map(|amount| amount.paise().0);
        assert_eq!(paise("100"), Ok(10_000));
        assert_eq!(paise("0.1"), Ok(10));
        assert_eq!(paise("99.05"), Ok(9_905));
        for text in ["1,23,456.78", "₹1,23,456.78", "123456.78"] {
            assert_eq!(paise(text), Ok(12_345_678), "{text}");
        }
        assert_eq!(paise("1,000"), Ok(100_000));
        for text in [
            "",
            "-1",
            "1.",
            ".5",
            "1.234",
            "1e3",
            "1,5",
            "123,456",
            "1,234,567",
            ",1",
            "1,",
            "₹",
            "1\0",
        ] {
            assert_eq!(paise(text), Err(InvalidAmount::Text), "{text:?}");
        }
    }

    #[test]
    fn an_amount_is_nothing_to_a_thousand_crore_rupees() {
        let amount = |paise: i64| Amount::try_from(paise).map(|amount| amount.paise().0);
        for paise in [0, 1, Amount::MOST.0] {
            assert_eq!(amount(paise), Ok(paise));
        }
        for paise in [-1, Amount::MOST.0 + 1, i64::MIN, i64::MAX] {
            assert_eq!(amount(paise), Err(InvalidAmount::Bounds));
        }
        let most = Amount::from_rupees("10000000000").map(Amount::paise);
        assert_eq!(most, Ok(Amount::MOST));
        for text in ["10000000000.01", "92233720368547758.08", &"9".repeat(400)] {
            assert_eq!(Amount::from_rupees(text), Err(InvalidAmount::Bounds), "{text}");
        }
    }

    #[test]
    fn shows_rupees() {
        assert_eq!(Paise(9_905).to_string(), "₹99.05");
        assert_eq!(Paise(-5).to_string(), "-₹0.05");
    }

    #[test]
    fn groups_as_india_does() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (99_999, "99,999"),
            (100_000, "1,00,000"),
            (1_234_567, "12,34,567"),
            (12_345_678, "1,23,45,678"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }
}
