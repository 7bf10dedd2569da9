mod strength;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig, general_purpose};
use dwar_kernel::{Digest, Entropy};
use hkdf::Hkdf;
use sha2::Sha256;
use std::fmt;
use std::str::FromStr;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

const HEX_LENGTH: usize = 64;

/// A server secret of 32 random bytes, from which every working key is derived.
///
/// It is never used directly: each use gets its own sub-key by HKDF-SHA-256 (RFC 5869, no salt). It
/// is kept outside the database. `Debug` hides it, and dropping it wipes it.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct MasterKey([u8; 32]);

/// The text is not a master key. The error does not quote it, because the text may be nearly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMasterKey {
    /// The text is neither base64 nor hexadecimal.
    #[error(
        "a master key is 32 random bytes in base64 (44 characters) or hexadecimal \
         (64 characters); this text is neither"
    )]
    Unreadable,
    /// The text is encoded correctly, but has this wrong number of bytes.
    #[error("a master key has exactly 32 bytes; this one has {0}")]
    Length(usize),
}

impl MasterKey {
    /// Draws a new key of 32 random bytes from `entropy`.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; 32];
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// The key in base64, for the file or variable that stores it.
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(general_purpose::STANDARD.encode(self.0))
    }

    /// Derives the secret for digests of one-time codes from this master key.
    ///
    /// The code keys list the secret of the current master key first and those of older ones after
    /// it, so that codes sent before a rotation still verify.
    pub fn code_secret(&self) -> Zeroizing<[u8; 32]> {
        self.derive("dwar code secret 1", &[])
    }

    /// A check value by which a database recognises the key that seals, without learning anything
    /// about it.
    pub fn check_of_master(&self) -> Digest {
        Digest(*self.derive("dwar master check 1", &[]))
    }

    /// A check value by which a database recognises the key of its digests.
    pub fn check_of_lookup(&self) -> Digest {
        Digest(*self.derive("dwar lookup check 1", &[]))
    }

    /// Identifies the key without revealing it, so that a sealed value names the key that opens it.
    pub(crate) fn id(&self) -> [u8; 4] {
        let [a, b, c, d, ..] = *self.derive("dwar key id 1", &[]);
        [a, b, c, d]
    }

    /// Derives the sub-key for `label` and `detail`. A label contains no NUL, so the two cannot be
    /// confused.
    #[expect(clippy::expect_used, reason = "HKDF refuses only more than 255 * 32 bytes of output")]
    pub(crate) fn derive(&self, label: &str, detail: &[&[u8]]) -> Zeroizing<[u8; 32]> {
        let mut info = vec![label.as_bytes(), b"\0"];
        info.extend_from_slice(detail);
        let mut sub_key = Zeroizing::new([0; 32]);
        Hkdf::<Sha256>::new(None, &self.0)
            .expand_multi_info(&info, sub_key.as_mut_slice())
            .expect("32 bytes are one block");
        sub_key
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("MasterKey(…)")
    }
}

/// Parses base64 (either alphabet, padding optional) or hexadecimal. Ignores white space around the
/// text, because files end in a newline.
impl FromStr for MasterKey {
    type Err = InvalidMasterKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        // 64 hexadecimal digits are also valid base64, of 48 bytes.
        let hex = Some(text).filter(|text| text.len() == HEX_LENGTH);
        let bytes = hex.and_then(|hex| base16ct::mixed::decode_vec(hex).ok());
        let bytes = bytes.or_else(|| from_base64(text)).ok_or(InvalidMasterKey::Unreadable)?;
        let bytes = Zeroizing::new(bytes);
        let whole = bytes.as_slice().try_into();
        whole.map(Self).map_err(|_| InvalidMasterKey::Length(bytes.len()))
    }
}

fn from_base64(text: &str) -> Option<Vec<u8>> {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    [&alphabet::STANDARD, &alphabet::URL_SAFE]
        .into_iter()
        .find_map(|alphabet| GeneralPurpose::new(alphabet, config).decode(text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn is_wiped_when_it_is_dropped() {
        fn wiped<T: ZeroizeOnDrop>(_: &T) {}
        let key = MasterKey([7; 32]);
        wiped(&key);
        wiped(&key.code_secret());
        let mut gone = key.clone();
        gone.zeroize();
        assert_eq!(gone.0, [0; 32]);
    }

    #[test]
    fn checks_tell_keys_and_uses_apart() {
        let (one, other) = (MasterKey([7; 32]), MasterKey([8; 32]));
        assert_eq!(one.check_of_master(), MasterKey([7; 32]).check_of_master());
        assert_ne!(one.check_of_master(), other.check_of_master());
        assert_ne!(one.check_of_lookup(), other.check_of_lookup());
        assert_ne!(one.check_of_master(), one.check_of_lookup());
    }

    struct Fixed(u8);

    impl Entropy for Fixed {
        fn fill(&self, buffer: &mut [u8]) {
            buffer.fill(self.0);
        }
    }

    #[test]
    fn reads_every_spelling_of_the_same_bytes() {
        let key = MasterKey([0xfb; 32]);
        let base64 = key.to_text().to_string();
        assert_eq!(base64.len(), 44);
        for text in [
            base64.clone(),
            base64.trim_end_matches('=').to_owned(),
            base64.replace('+', "-").replace('/', "_"),
            format!("  {base64}\r\n"),
            hex(&[0xfb; 32]),
            hex(&[0xfb; 32]).to_uppercase(),
        ] {
            assert_eq!(text.parse::<MasterKey>().as_ref(), Ok(&key), "{text}");
        }
    }

    #[test]
    fn refuses_other_lengths_and_other_text() {
        use InvalidMasterKey::{Length, Unreadable};
        for (text, error) in [
            ("", Length(0)),
            ("c2hvcnQ=", Length(5)),
            (hex(&[7; 16]).as_str(), Length(24)),
            (general_purpose::STANDARD.encode([7; 33]).as_str(), Length(33)),
            ("correct horse battery staple", Unreadable),
            ("z".repeat(63).as_str(), Unreadable),
            ("ü".repeat(32).as_str(), Unreadable),
        ] {
            assert_eq!(text.parse::<MasterKey>(), Err(error), "{text}");
        }
    }

    #[test]
    fn generates_from_the_given_entropy_and_hides_itself() {
        let key = MasterKey::generate(&Fixed(9));
        assert_eq!(key, MasterKey([9; 32]));
        assert_eq!(format!("{key:?}"), "MasterKey(…)");
    }

    /// RFC 5869, appendix A.3 (SHA-256, no salt, no info), first 32 of its 42 bytes.
    #[test]
    fn hkdf_is_the_published_one() {
        let mut okm = [0; 42];
        Hkdf::<Sha256>::new(None, &[0x0b; 22]).expand(&[], &mut okm).unwrap();
        assert_eq!(
            hex(&okm),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d\
             9d201395faa4b61a96c8"
        );
    }
}
