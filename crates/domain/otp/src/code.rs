use derive_more::Debug;
use dwar_kernel::{Entropy, OtpId};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::str::FromStr;
use std::sync::Arc;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// A one-time code: ASCII digits, leading zeros included. A login code has exactly six digits, a relayed code
/// 4 to 10. Dropping the value wipes the digits.
#[derive(Clone, Debug, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
#[debug("Code(••••••)")]
pub struct Code {
    /// Only the first `length` digits count; the rest is zero.
    digits: [u8; Code::LONGEST],
    length: usize,
}

/// Parse error: the text is not a login code of exactly six digits.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a code is exactly 6 digits")]
pub struct InvalidCode;

/// Parse error: the text is not a relayed code of 4 to 10 digits.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a code is 4 to 10 digits")]
pub struct InvalidRelayedCode;

impl Code {
    /// Digits of a login code.
    const LENGTH: usize = 6;
    /// Fewest and most digits of a relayed code.
    const SHORTEST: usize = 4;
    pub(crate) const LONGEST: usize = 10;

    /// Parses a relayed code: one that another system made, and that Dwar only delivers.
    ///
    /// # Errors
    /// Anything but 4 to 10 ASCII digits.
    pub fn relayed(text: &str) -> Result<Self, InvalidRelayedCode> {
        match text.len() {
            Self::SHORTEST..=Self::LONGEST => Self::of(text).ok_or(InvalidRelayedCode),
            _ => Err(InvalidRelayedCode),
        }
    }

    fn of(text: &str) -> Option<Self> {
        let mut digits = [0; Self::LONGEST];
        digits.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        let is_code = text.bytes().all(|byte| byte.is_ascii_digit());
        is_code.then_some(Self { digits, length: text.len() })
    }

    /// Draws a uniformly random login code, by rejection sampling: a modulo would favour small codes.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        const CODES: u32 = 1_000_000;
        const FAIR: u32 = u32::MAX - u32::MAX % CODES;
        loop {
            let mut bytes = [0; 4];
            entropy.fill(&mut bytes);
            let draw = u32::from_le_bytes(bytes);
            if draw < FAIR {
                return Self::from_number(draw % CODES);
            }
        }
    }

    fn from_number(mut number: u32) -> Self {
        let mut digits = [0; Self::LONGEST];
        for digit in digits[..Self::LENGTH].iter_mut().rev() {
            *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
            number /= 10;
        }
        Self { digits, length: Self::LENGTH }
    }

    /// The digits in clear. Only for the message that carries them and for the vault.
    #[expect(clippy::expect_used, reason = "only ASCII digits are ever put in")]
    pub fn expose(&self) -> &str {
        std::str::from_utf8(&self.digits[..self.length]).expect("digits are text")
    }
}

impl FromStr for Code {
    type Err = InvalidCode;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::of(text).filter(|code| code.length == Self::LENGTH).ok_or(InvalidCode)
    }
}

/// Stored form of a code: HMAC-SHA-256 under a server secret, bound to the OTP request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[debug("CodeDigest(key {key})")]
pub struct CodeDigest {
    pub key: i32,
    /// HMAC-SHA-256 of the request binding and the code.
    pub mac: [u8; 32],
}

impl CodeDigest {
    /// Digest of a relayed code, which Dwar does not check: no guess matches this digest.
    pub const NONE: Self = Self { key: 0, mac: [0; 32] };
}

/// The server secrets for codes. The first secret makes new digests; all of them check old ones, so that a
/// secret can be replaced while codes made under it are still active. Dropping the value wipes them.
#[derive(Clone, Debug)]
#[debug("CodeKeys({} secrets)", _0.len())]
pub struct CodeKeys(Vec<(i32, Zeroizing<[u8; 32]>)>);

impl CodeKeys {
    /// Takes the current secret and the older ones; only the current one makes new digests.
    pub fn new(current: [u8; 32], older: impl IntoIterator<Item = [u8; 32]>) -> Self {
        let secrets = std::iter::once(current).chain(older);
        Self(secrets.map(|secret| (key_id(&secret), Zeroizing::new(secret))).collect())
    }

    /// The digest of `code`, bound to its OTP request by `binding` ([`Otp::binding`](crate::Otp::binding)).
    pub fn digest(&self, binding: &[u8], code: &Code) -> CodeDigest {
        let (key, secret) = &self.0[0];
        CodeDigest { key: *key, mac: mac(secret, binding, code) }
    }

    fn check(&self, binding: &[u8], code: &Code, stored: &CodeDigest) -> bool {
        let secret = self.0.iter().find(|(key, _)| *key == stored.key);
        secret.is_some_and(|(_, secret)| mac(secret, binding, code).ct_eq(&stored.mac).into())
    }
}

/// A code that a user entered, with the keys that check it.
#[derive(Clone, Debug)]
pub struct Guess {
    code: Code,
    keys: Arc<CodeKeys>,
    request: Option<OtpId>,
    by_device: bool,
}

impl Guess {
    /// A guess against the phone's active code, checked with `keys`.
    pub const fn new(code: Code, keys: Arc<CodeKeys>) -> Self {
        Self { code, keys, request: None, by_device: false }
    }

    /// Restricts the guess to the code of `request`, if one is named (OWASP ASVS 5.0, 6.6.2).
    #[must_use]
    pub fn meant_for(self, request: Option<OtpId>) -> Self {
        Self { request, ..self }
    }

    /// Tells whether it comes from a device that is known to the phone.
    #[must_use]
    pub fn by_device(self, by_device: bool) -> Self {
        Self { by_device, ..self }
    }

    /// Whether it comes from a known device.
    pub(crate) const fn is_by_device(&self) -> bool {
        self.by_device
    }

    /// Whether the guess may be judged against the code of `request`.
    pub fn is_meant_for(&self, request: OtpId) -> bool {
        self.request.is_none_or(|named| named == request)
    }

    /// Whether `stored` is the digest of this code and `binding`, compared in constant time.
    pub(crate) fn is(&self, binding: &[u8], stored: &CodeDigest) -> bool {
        self.keys.check(binding, &self.code, stored)
    }
}

fn mac(secret: &[u8; 32], binding: &[u8], code: &Code) -> [u8; 32] {
    keyed(secret, &[b"dwar otp code 1", binding, code.expose().as_bytes()])
}

/// Id of a secret, derived from the secret itself: the order of secrets in the configuration does not matter.
fn key_id(secret: &[u8; 32]) -> i32 {
    let id = keyed(secret, &[b"dwar otp code key id"]);
    i32::from_le_bytes([id[0], id[1], id[2], id[3]])
}

fn keyed(secret: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    // HMAC pads a key shorter than the block with zeros (RFC 2104). Padding it here means that creating the
    // MAC cannot fail.
    let mut block = Zeroizing::new([0; 64]);
    block[..32].copy_from_slice(secret);
    let mut mac = <Hmac<Sha256> as KeyInit>::new((&*block).into());
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_six_ascii_digits_and_nothing_else() {
        assert_eq!("000042".parse::<Code>().unwrap().expose(), "000042");
        for text in ["", "12345", "1234567", "12345a", " 12345", "+12345", "１２３４５６", "٣٤٥"]
        {
            assert_eq!(text.parse::<Code>(), Err(InvalidCode), "{text:?}");
        }
    }

    #[test]
    fn a_code_of_somebody_else_has_4_to_10_digits() {
        for text in ["0000", "123456", "0123456789"] {
            assert_eq!(Code::relayed(text).unwrap().expose(), text);
        }
        assert_eq!(Code::relayed("123456").unwrap(), "123456".parse().unwrap());
        for text in ["", "123", "01234567890", "12 34", "-1234", "１２３４"] {
            assert_eq!(Code::relayed(text), Err(InvalidRelayedCode), "{text:?}");
        }
    }

    #[test]
    fn codes_and_their_secrets_are_wiped_when_they_are_dropped() {
        fn wiped<T: ZeroizeOnDrop>(_: &T) {}
        let mut code: Code = "123456".parse().unwrap();
        wiped(&code);
        wiped(&CodeKeys::new([1; 32], []).0[0].1);
        code.zeroize();
        assert_eq!(code.digits, [0; 10]);
    }

    #[test]
    fn keeps_leading_zeros() {
        assert_eq!(Code::from_number(7).expose(), "000007");
        assert_eq!(Code::from_number(999_999).expose(), "999999");
    }

    #[test]
    fn an_older_secret_still_checks_and_a_removed_one_does_not() {
        let (old, new) = ([1; 32], [2; 32]);
        let code: Code = "123456".parse().unwrap();
        let stored = CodeKeys::new(old, []).digest(b"otp", &code);
        assert!(CodeKeys::new(new, [old]).check(b"otp", &code, &stored));
        assert!(!CodeKeys::new(new, []).check(b"otp", &code, &stored));
        assert!(!CodeKeys::new(old, []).check(b"another otp", &code, &stored));
    }
}
