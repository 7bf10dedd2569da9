use crate::Entropy;
use derive_more::Debug;
use zeroize::Zeroizing;

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const CHECKSUM: usize = 6;

/// A secret in text form that detects typing errors: prefix, random base62, CRC-32 in base62.
///
/// The last six characters are the checksum of everything before them, so a mistyped secret is refused
/// without a look-up, and secret scanners can recognise a real one. `Debug` shows only the prefix; dropping
/// the value wipes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[debug("{}…", &text[..*prefix])]
pub struct SecretText {
    text: Zeroizing<String>,
    prefix: usize,
}

impl SecretText {
    /// Makes a secret of `prefix` and `body` random base62 characters (5.95 bits each).
    pub fn generate(prefix: &str, body: usize, entropy: &dyn Entropy) -> Self {
        let mut text = String::with_capacity(prefix.len() + body + CHECKSUM);
        text.push_str(prefix);
        push_random(&mut text, body, entropy);
        let sum = checksum(&text);
        text.push_str(&sum);
        Self { text: Zeroizing::new(text), prefix: prefix.len() }
    }

    /// Parses a secret of exactly this shape; `None` for anything else, without a reason.
    pub fn parse(text: &str, prefix: &str, body: usize) -> Option<Self> {
        let rest = text.strip_prefix(prefix)?;
        if rest.len() != body + CHECKSUM || !rest.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
            return None;
        }
        let (covered, sum) = text.split_at(text.len() - CHECKSUM);
        let whole = || Self { text: Zeroizing::new(text.to_owned()), prefix: prefix.len() };
        (checksum(covered) == sum).then(whole)
    }

    /// The whole secret in clear. Only for the answer that carries it and for its digest.
    pub fn expose(&self) -> &str {
        &self.text
    }
}

/// Uses rejection sampling: a modulo would favour the first letters of the alphabet.
fn push_random(text: &mut String, count: usize, entropy: &dyn Entropy) {
    let target = text.len() + count;
    let mut buffer = Zeroizing::new([0_u8; 64]);
    while text.len() < target {
        entropy.fill(buffer.as_mut_slice());
        for byte in buffer.iter().map(|byte| usize::from(byte & 0x3f)).filter(|value| *value < 62) {
            if text.len() == target {
                break;
            }
            text.push(char::from(ALPHABET[byte]));
        }
    }
}

fn checksum(covered: &str) -> String {
    let mut rest = usize::try_from(crc32fast::hash(covered.as_bytes())).unwrap_or_default();
    let mut digits = [ALPHABET[0]; CHECKSUM];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[rest % 62];
        rest /= 62;
    }
    digits.iter().copied().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting(std::sync::Mutex<u8>);

    impl Entropy for Counting {
        fn fill(&self, buffer: &mut [u8]) {
            let mut next = self.0.lock().unwrap();
            for byte in buffer {
                *byte = *next;
                *next = next.wrapping_add(1);
            }
        }
    }

    /// Every future version has to accept keys that were issued long ago.
    #[test]
    fn the_checksum_is_the_published_one_in_base62() {
        assert_eq!(crc32fast::hash(b"123456789"), 0xCBF4_3926, "CRC-32 as in ISO-HDLC");
        assert_eq!(checksum("123456789"), "3jZRME");
    }

    #[test]
    fn reads_what_it_wrote_and_refuses_every_single_typo() {
        let secret = SecretText::generate("svc_test_", 32, &Counting(0.into()));
        let text = secret.expose();
        assert_eq!(text.len(), 9 + 32 + 6);
        assert_eq!(SecretText::parse(text, "svc_test_", 32).as_ref(), Some(&secret));
        for at in 9..text.len() {
            let mut typo = text.as_bytes().to_vec();
            typo[at] = if typo[at] == b'x' { b'y' } else { b'x' };
            let typo = String::from_utf8(typo).unwrap();
            assert!(SecretText::parse(&typo, "svc_test_", 32).is_none(), "{typo}");
        }
    }

    #[test]
    fn hides_itself_from_debug() {
        let secret = SecretText::generate("svc_test_", 32, &Counting(7.into()));
        assert_eq!(format!("{secret:?}"), "svc_test_…");
    }
}
