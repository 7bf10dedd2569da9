use crate::Secret;
use hmac::{KeyInit, Mac};

/// The HMAC of `parts`, one after the other, under `secret`; `None` without a secret, since a
/// signature under the empty key is anybody's to make.
pub(crate) fn sign<M: Mac + KeyInit>(secret: &Secret, parts: &[&[u8]]) -> Option<Vec<u8>> {
    if secret.expose().is_empty() {
        return None;
    }
    let mut mac = <M as KeyInit>::new_from_slice(secret.expose().as_bytes()).ok()?;
    for part in parts {
        mac.update(part);
    }
    Some(mac.finalize().into_bytes().to_vec())
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
        let mac = sign::<Hmac<Sha256>>(&Secret::new("Jefe"), &parts);
        assert_eq!(mac.as_deref(), Some(&expected[..]));
    }

    #[test]
    fn signs_nothing_without_a_secret() {
        assert_eq!(sign::<Hmac<Sha256>>(&Secret::new(""), &[b"text"]), None);
    }
}
