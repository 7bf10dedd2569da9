use dwar_kernel::{ApiKeyId, Digest, Entropy, KeyMode, Purpose, SecretText, Timestamp, Vault};
use std::str::FromStr;

/// Random characters of a key: 32 of base62, 190 bits.
const BODY: usize = 32;

/// A project's API key: `svc_live_…` or `svc_test_…` (docs/contract.md, Callers).
///
/// The plaintext exists twice: in the answer that shows it once, and in a request.
#[derive(Clone, Debug)]
pub struct ApiKey {
    mode: KeyMode,
    text: SecretText,
}

/// The text cannot be a key: wrong prefix, length, alphabet or checksum.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an API key")]
pub struct MalformedApiKey;

impl ApiKey {
    /// A fresh key for `mode`.
    pub fn generate(mode: KeyMode, entropy: &dyn Entropy) -> Self {
        Self { mode, text: SecretText::generate(prefix(mode), BODY, entropy) }
    }

    /// Which world the key opens.
    pub const fn mode(&self) -> KeyMode {
        self.mode
    }

    /// The plaintext, for the one answer that shows it.
    pub fn expose(&self) -> &str {
        self.text.expose()
    }

    /// The form under which stores know the key.
    pub fn digest(&self, vault: &dyn Vault) -> Digest {
        vault.digest(Purpose::ApiKey, &[self.text.expose().as_bytes()])
    }

    /// What a store keeps of the key.
    pub fn record(&self, id: ApiKeyId, vault: &dyn Vault, now: Timestamp) -> KeyRecord {
        let text = self.text.expose();
        KeyRecord {
            id,
            mode: self.mode,
            digest: self.digest(vault),
            last_four: text[text.len() - 4..].to_owned(),
            created_at: now,
        }
    }
}

impl FromStr for ApiKey {
    type Err = MalformedApiKey;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        [KeyMode::Live, KeyMode::Test]
            .into_iter()
            .find_map(|mode| {
                let text = SecretText::parse(text, prefix(mode), BODY)?;
                Some(Self { mode, text })
            })
            .ok_or(MalformedApiKey)
    }
}

const fn prefix(mode: KeyMode) -> &'static str {
    match mode {
        KeyMode::Live => "svc_live_",
        KeyMode::Test => "svc_test_",
    }
}

/// What a store keeps of an API key: enough to recognise it, not enough to use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRecord {
    /// Names the key in logs and limits.
    pub id: ApiKeyId,
    /// Which world it opens.
    pub mode: KeyMode,
    /// Keyed digest of the plaintext.
    pub digest: Digest,
    /// Last four characters, so that a person can tell two keys apart.
    pub last_four: String,
    /// When it was made.
    pub created_at: Timestamp,
}
