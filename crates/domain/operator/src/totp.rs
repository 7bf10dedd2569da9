use dwar_kernel::{Entropy, Sealed, Timestamp};
use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use std::fmt;
use std::str::FromStr;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// 160 bits, as RFC 4226 section 4 recommends.
const BYTES: usize = 20;
const STEP_SECONDS: u64 = 30;
const DIGITS: usize = 6;
const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Second factor of an operator (RFC 6238), in stored form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Totp {
    pub secret: Sealed,
    /// The last used time step; codes of this and earlier steps no longer work.
    pub last_step: u64,
}

impl Totp {
    /// The latest time step whose code is accepted at `now`.
    pub fn latest_step(now: Timestamp) -> u64 {
        TotpSecret::steps(now)[2]
    }

    /// Uses up a time step; `false` if this or a later one was used before.
    pub const fn take(&mut self, step: u64) -> bool {
        let fresh = step > self.last_step;
        if fresh {
            self.last_step = step;
        }
        fresh
    }
}

/// Shared secret of an authenticator app. `Debug` hides it; dropping the value wipes it.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct TotpSecret([u8; BYTES]);

/// Parse error: the text is neither such a secret in base32 nor six digits.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a secret of an authenticator app")]
pub struct MalformedTotpSecret;

/// Six digits as typed; blanks between them are ignored. `Debug` hides them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TotpCode([u8; DIGITS]);

impl TotpSecret {
    /// Makes a secret of 160 random bits (RFC 4226 section 4).
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; BYTES];
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// The secret from the bytes of a vault; `None` if the length differs.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// The bytes, to be sealed by the vault.
    pub const fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// The secret in base32 (RFC 4648 section 6), for the one page that shows it.
    pub fn expose(&self) -> Zeroizing<String> {
        // 160 bits are exactly 32 letters.
        let groups = self.0.chunks_exact(5).flat_map(|five| {
            let bits = five.iter().fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
            (0..8).rev().map(move |letter| BASE32[(bits >> (5 * letter)) as usize & 31])
        });
        Zeroizing::new(groups.map(char::from).collect())
    }

    /// The URI that authenticator apps read from a QR code
    /// (<https://github.com/google/google-authenticator/wiki/Key-Uri-Format>).
    pub fn uri(&self, issuer: &str, account: &str) -> Zeroizing<String> {
        let (issuer, account) = (percent(issuer), percent(account));
        let secret = self.expose();
        Zeroizing::new(format!(
            "otpauth://totp/{issuer}:{account}?secret={}&issuer={issuer}&algorithm=SHA1&digits=6&period=30",
            secret.as_str()
        ))
    }

    /// The time step of this code: the present step or one of its neighbours, the latest if several have the
    /// same code. Does not tell whether it was used.
    pub fn step_of(&self, code: TotpCode, now: Timestamp) -> Option<u64> {
        // Compares with all three, so that timing does not reveal which one matched.
        Self::steps(now).into_iter().fold(None, |found, step| {
            let same: bool = self.code_of(step).0.ct_eq(&code.0).into();
            if same { Some(step) } else { found }
        })
    }

    fn steps(now: Timestamp) -> [u64; 3] {
        let present = u64::try_from(now.timestamp()).unwrap_or_default() / STEP_SECONDS;
        [present.saturating_sub(1), present, present + 1]
    }

    /// The code that the app shows at `now`.
    pub fn code_at(&self, now: Timestamp) -> TotpCode {
        self.code_of(Self::steps(now)[1])
    }

    /// RFC 4226 section 5.3 with the time step as counter.
    fn code_of(&self, step: u64) -> TotpCode {
        // HMAC pads a key shorter than the block with zeros (RFC 2104). Padding it here means that creating
        // the MAC cannot fail.
        let mut block = Zeroizing::new([0; 64]);
        block[..BYTES].copy_from_slice(&self.0);
        let mut mac = <Hmac<Sha1> as KeyInit>::new((&*block).into());
        mac.update(&step.to_be_bytes());
        let digest: [u8; 20] = mac.finalize().into_bytes().into();
        let offset = usize::from(digest[19] & 15);
        let bytes = [digest[offset], digest[offset + 1], digest[offset + 2], digest[offset + 3]];
        TotpCode::of(u32::from_be_bytes(bytes) & 0x7fff_ffff)
    }
}

impl TotpCode {
    fn of(number: u32) -> Self {
        let mut rest = number;
        let mut digits = [b'0'; DIGITS];
        for digit in digits.iter_mut().rev() {
            *digit += (rest % 10) as u8;
            rest /= 10;
        }
        Self(digits)
    }

    /// The six digits in clear, leading zeros included.
    pub fn expose(&self) -> String {
        self.0.iter().copied().map(char::from).collect()
    }
}

/// Parses upper or lower case, with blanks anywhere.
impl FromStr for TotpSecret {
    type Err = MalformedTotpSecret;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut bits = Zeroizing::new(Vec::with_capacity(32));
        for letter in text.bytes().filter(|letter| *letter != b' ') {
            let letter = letter.to_ascii_uppercase();
            let value = BASE32.iter().position(|known| *known == letter);
            bits.push(value.ok_or(MalformedTotpSecret)? as u64);
        }
        if bits.len() != 32 {
            return Err(MalformedTotpSecret);
        }
        let mut secret = Self([0; BYTES]);
        for (five, letters) in secret.0.chunks_exact_mut(5).zip(bits.chunks_exact(8)) {
            let group = letters.iter().fold(0, |group, letter| (group << 5) | letter);
            five.copy_from_slice(&group.to_be_bytes()[3..]);
        }
        Ok(secret)
    }
}

impl FromStr for TotpCode {
    type Err = MalformedTotpSecret;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
        let digits: [u8; DIGITS] = digits.try_into().map_err(|_| MalformedTotpSecret)?;
        if digits.iter().all(u8::is_ascii_digit) {
            Ok(Self(digits))
        } else {
            Err(MalformedTotpSecret)
        }
    }
}

impl fmt::Debug for TotpSecret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("TotpSecret(…)")
    }
}

impl fmt::Debug for TotpCode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("TotpCode(…)")
    }
}

/// Leaves the unreserved characters of RFC 3986 as they are.
fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        out
    })
}

#[cfg(test)]
#[path = "totp_tests.rs"]
mod tests;
