use base64ct::{Base64, Encoding};
use derive_more::Debug;
use dwar_kernel::Entropy;
use std::str::FromStr;
use zeroize::{Zeroize, ZeroizeOnDrop};

const PREFIX: &str = "whsec_";
/// Standard Webhooks asks for 24 to 64 bytes.
const BYTES: usize = 32;

/// What signs a project's events: `whsec_` and 32 random bytes in base64 (Standard Webhooks,
/// Signature scheme). `Debug` hides it, and dropping it wipes it.
#[derive(Clone, Debug, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
#[debug("{PREFIX}…")]
pub struct WebhookSecret([u8; BYTES]);

/// The text is no secret of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a webhook secret")]
pub struct MalformedSecret;

impl WebhookSecret {
    /// A fresh secret.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; BYTES];
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// The key of the HMAC.
    pub const fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// The text form, for the one answer that shows it and for the vault.
    pub fn expose(&self) -> String {
        format!("{PREFIX}{}", Base64::encode_string(&self.0))
    }
}

impl FromStr for WebhookSecret {
    type Err = MalformedSecret;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let encoded = text.strip_prefix(PREFIX).ok_or(MalformedSecret)?;
        let mut bytes = [0; BYTES];
        match Base64::decode(encoded, &mut bytes) {
            Ok(read) if read.len() == BYTES => Ok(Self(bytes)),
            _ => Err(MalformedSecret),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counting;

    impl Entropy for Counting {
        fn fill(&self, buffer: &mut [u8]) {
            for (byte, value) in buffer.iter_mut().zip(0..) {
                *byte = value;
            }
        }
    }

    #[test]
    fn reads_what_it_wrote_as_base64() {
        let secret = WebhookSecret::generate(&Counting);
        assert_eq!(secret.expose(), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        assert_eq!(secret.expose().parse(), Ok(secret.clone()));
        assert_eq!(format!("{secret:?}"), "whsec_…");
        for text in ["", "whsec_", "whsec_AAEC", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="] {
            assert_eq!(text.parse::<WebhookSecret>(), Err(MalformedSecret), "{text}");
        }
    }
}
