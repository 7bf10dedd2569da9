use crate::Secret;
use hmac::{KeyInit, Mac};

/// Tells whether `given` is the HMAC of the joined `parts` under `secret`; compares in constant
/// time. Always false without a secret, because anyone can sign with the empty key.
pub(crate) fn is_signed<M: Mac + KeyInit>(secret: &Secret, parts: &[&[u8]], given: &[u8]) -> bool {
    let Ok(mac) = <M as KeyInit>::new_from_slice(secret.expose().as_bytes()) else { return false };
    let mac = parts.iter().fold(mac, |mac, part| mac.chain_update(part));
    !secret.is_empty() && mac.verify_slice(given).is_ok()
}

/// Decodes a signature of lower-case hexadecimal digits; `None` for any other text or length.
pub(crate) fn claimed_hex<const BYTES: usize>(digits: &str) -> Option<[u8; BYTES]> {
    let mut signature = [0; BYTES];
    let read = base16ct::lower::decode(digits, &mut signature).ok()?.len();
    (read == BYTES).then_some(signature)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hmac::Hmac;
    use sha2::Sha256;

    #[test]
    fn matches_rfc_4231_and_joins_its_parts() {
        let expected = [
            0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e, 0x6a, 0x04, 0x24, 0x26, 0x08, 0x95,
            0x75, 0xc7, 0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83, 0x9d, 0xec, 0x58, 0xb9,
            0x64, 0xec, 0x38, 0x43,
        ];
        let parts: [&[u8]; 2] = [b"what do ya want ", b"for nothing?"];
        let judge = |given: &[u8]| is_signed::<Hmac<Sha256>>(&Secret::new("Jefe"), &parts, given);
        assert!(judge(&expected));
        let mut altered = expected;
        altered[31] ^= 1;
        for wrong in [&altered[..], &expected[..31], &[]] {
            assert!(!judge(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn reads_hexadecimal_digits_of_the_right_length_alone() {
        assert_eq!(claimed_hex("00ff7a"), Some([0x00, 0xff, 0x7a]));
        for other in ["", "00ff", "00ff7a00", "00FF7A", "00ff7", "00ff7g", " 0ff7a", "00ff7é"] {
            assert_eq!(claimed_hex::<3>(other), None, "{other:?}");
        }
    }

    #[test]
    fn nothing_is_signed_without_a_secret() {
        let mac = <Hmac<Sha256> as KeyInit>::new_from_slice(b"").unwrap().chain_update(b"text");
        let made = mac.finalize().into_bytes();
        assert!(!is_signed::<Hmac<Sha256>>(&Secret::new(""), &[b"text"], &made));
    }
}
