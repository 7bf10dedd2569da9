use crate::{Entropy, Purpose, Sealed, Timestamp, Unsealable, Vault};
use base64ct::{Base64, Encoding};
use derive_more::Debug;
use std::str::FromStr;
use uuid::Uuid;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

const PREFIX: &str = "whsec_";
/// Standard Webhooks requires 24 to 64 bytes.
const BYTES: usize = 32;

/// Shared secret of a webhook: `whsec_` and 32 random bytes in base64 (Standard Webhooks, Signature scheme).
/// `Debug` hides it; dropping it wipes it.
#[derive(Clone, Debug, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
#[debug("{PREFIX}…")]
pub struct WebhookSecret([u8; BYTES]);

/// Parse error: the text is not `whsec_` and 32 bytes in base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a webhook secret")]
pub struct MalformedWebhookSecret;

impl WebhookSecret {
    /// Makes a secret of 32 random bytes from `entropy`.
    pub fn generate(entropy: &dyn Entropy) -> Self {
        let mut bytes = [0; BYTES];
        entropy.fill(&mut bytes);
        Self(bytes)
    }

    /// The 32 bytes, which are the key of the HMAC.
    pub const fn bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// Seals the secret, bound to `purpose` and to the row `owner`.
    pub fn seal(&self, vault: &dyn Vault, purpose: Purpose, owner: Uuid) -> Sealed {
        vault.seal(purpose, owner.as_bytes(), Zeroizing::new(self.expose()).as_bytes())
    }

    /// Opens what [`WebhookSecret::seal`] made for the same purpose and row.
    ///
    /// # Errors
    /// [`Unsealable`] if purpose or row differ, or the content is not a secret.
    pub fn open(
        vault: &dyn Vault,
        purpose: Purpose,
        owner: Uuid,
        sealed: &Sealed,
    ) -> Result<Self, Unsealable> {
        let plain = Zeroizing::new(vault.open(purpose, owner.as_bytes(), sealed)?);
        let text = std::str::from_utf8(&plain).map_err(|_| Unsealable)?;
        text.parse().map_err(|_| Unsealable)
    }

    /// The text form, for the one answer that shows it and for the vault.
    pub fn expose(&self) -> String {
        format!("{PREFIX}{}", Base64::encode_string(&self.0))
    }
}

impl FromStr for WebhookSecret {
    type Err = MalformedWebhookSecret;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let encoded = text.strip_prefix(PREFIX).ok_or(MalformedWebhookSecret)?;
        let mut bytes = [0; BYTES];
        match Base64::decode(encoded, &mut bytes) {
            Ok(read) if read.len() == BYTES => Ok(Self(bytes)),
            _ => Err(MalformedWebhookSecret),
        }
    }
}

/// The webhook secret on record, with its predecessor while both are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSecret {
    pub present: Sealed,
    pub previous: Option<PreviousSecret>,
}

/// A replaced secret that is still valid for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviousSecret {
    pub secret: Sealed,
    /// The first instant at which it is no longer valid.
    pub until: Timestamp,
}

/// A secret that replaces the present one of an endpoint or hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSecret {
    pub secret: Sealed,
    pub previous_until: Timestamp,
}

impl KeptSecret {
    /// The first secret of an endpoint or hook, without a predecessor.
    pub const fn first(secret: Sealed) -> Self {
        Self { present: secret, previous: None }
    }

    /// Replaces the present secret. The replaced one stays valid until `new.previous_until`; an even older
    /// one is dropped.
    pub fn replace(&mut self, new: NewSecret) {
        let secret = std::mem::replace(&mut self.present, new.secret);
        self.previous = Some(PreviousSecret { secret, until: new.previous_until });
    }

    /// The secrets that are valid at `now`, newest first.
    pub fn at(&self, now: Timestamp) -> Vec<&Sealed> {
        let previous = self.previous_at(now);
        std::iter::once(&self.present).chain(previous.map(|previous| &previous.secret)).collect()
    }

    /// Until when the previous secret is valid; `None` if it is not valid at `now`.
    pub fn previous_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.previous_at(now).map(|previous| previous.until)
    }

    fn previous_at(&self, now: Timestamp) -> Option<&PreviousSecret> {
        self.previous.as_ref().filter(|previous| now < previous.until)
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
    fn the_old_secret_counts_until_its_end() {
        let until = Timestamp::from_timestamp(1_800_000_000, 0).unwrap();
        let [one, two] = [1, 2].map(|byte| Sealed(vec![byte]));
        let mut kept = KeptSecret::first(one.clone());
        assert_eq!(kept.previous_until(until), None);
        kept.replace(NewSecret { secret: two.clone(), previous_until: until });
        let last = until - std::time::Duration::from_millis(1);
        assert_eq!((kept.at(last), kept.previous_until(last)), (vec![&two, &one], Some(until)));
        assert_eq!((kept.at(until), kept.previous_until(until)), (vec![&two], None));
    }

    #[test]
    fn reads_what_it_wrote_as_base64() {
        let secret = WebhookSecret::generate(&Counting);
        assert_eq!(secret.expose(), "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=");
        assert_eq!(secret.expose().parse(), Ok(secret.clone()));
        assert_eq!(format!("{secret:?}"), "whsec_…");
        for text in ["", "whsec_", "whsec_AAEC", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="] {
            assert_eq!(text.parse::<WebhookSecret>(), Err(MalformedWebhookSecret), "{text}");
        }
    }
}
